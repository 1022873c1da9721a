/** Generated rows against real servers. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.demo.generated;
