/**
 * {@code gameq-writer status} and {@code slots}: what waits, where, and whether there is something
 * to act on.
 *
 * <pre>
 * StatusCommand    asks the servers, once or again and again
 *   StatusLook     what they said, and what follows from it
 *   StatusPage     prints that: a screen, or a line of JSON
 * SlotsCommand     the same by slot
 *   SlotsLook      what waits in each, and who paused it
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.status;
