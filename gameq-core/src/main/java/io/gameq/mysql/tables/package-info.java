/** gameq's own tables. */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql.tables;
