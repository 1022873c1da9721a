@org.jspecify.annotations.NullMarked
package io.gameq.recovery.replay;
