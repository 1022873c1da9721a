@org.jspecify.annotations.NullMarked
package io.gameq.healing;
