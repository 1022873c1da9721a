/**
 * {@code gameq-writer schema}: prepares a database. The SQL is in {@link io.gameq.writer.mysql}.
 *
 * <pre>
 * SchemaCommand            the parent; check, migrate, drop-column and new-identity
 *   SchemaInitCommand      drafts a gameq.yaml
 *     OwnerGuess             whose rows tables hold: SchemaDraft
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.schema;
