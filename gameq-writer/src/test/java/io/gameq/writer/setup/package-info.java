@org.jspecify.annotations.NullMarked
package io.gameq.writer.setup;
