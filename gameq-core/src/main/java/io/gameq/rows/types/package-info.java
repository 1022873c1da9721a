/** Column types. */
@org.jspecify.annotations.NullMarked
package io.gameq.rows.types;
