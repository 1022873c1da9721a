/** The fault campaign. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.campaign;
