/**
 * {@code gameq-writer schema init}, {@code check} and {@code migrate}: what they print and return.
 * Their SQL is in {@link io.gameq.writer.mysql}, the guess and the repair in {@link
 * io.gameq.mysql.schema}.
 *
 * <pre>
 * SchemaCommand            the parent of all
 *   SchemaInitCommand      drafts a gameq.yaml
 *     DraftYaml            prints it
 *   SchemaCheckCommand     what is amiss; changes nothing
 *     FixScript            with --fix-sql, the statements that mend it
 *   SchemaMigrateCommand   the steps that end it
 *     SchemaReport         a line for each finding
 *   MySqlLogin             another login than the configuration's
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.schema;
