/**
 * {@code gameq-writer schema check} and {@code schema migrate}: what they print and return. Their
 * SQL is in {@code io.gameq.writer.mysql}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.schema;
