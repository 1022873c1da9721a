/** The schema. */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql.schema;
