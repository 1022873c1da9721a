/** The guarded transaction. */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql.flush;
