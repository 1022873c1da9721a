/**
 * {@code gameq-writer schema check} and {@code schema migrate}: what they print and return. Their
 * SQL is in {@link io.gameq.writer.mysql}.
 *
 * <pre>
 * SchemaCommand            the parent of both
 *   SchemaCheckCommand     what is amiss; changes nothing
 *   SchemaMigrateCommand   the steps that end it
 *     SchemaReport         a line for each finding
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.schema;
