/** The sender. */
@org.jspecify.annotations.NullMarked
package io.gameq.commit;
