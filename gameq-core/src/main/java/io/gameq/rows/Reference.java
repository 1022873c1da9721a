package io.gameq.rows;

import org.jspecify.annotations.Nullable;

/**
 * A foreign key of a table; immutable.
 *
 * @param parent the table that it refers to
 * @param optional one of its columns that may be NULL: then the row refers to nothing, so that rows
 *     which refer to each other can be written one after the other; null when there is none
 */
public record Reference(String parent, @Nullable String optional) {}
