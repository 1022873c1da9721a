/** SQL of the laboratory. */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.mysql;
