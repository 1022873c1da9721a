/** Generated rows against real servers. */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.demo.generated;
