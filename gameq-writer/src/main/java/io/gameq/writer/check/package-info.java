/**
 * {@code gameq-writer config check}: the settings in effect, and whether a writer could run.
 *
 * <pre>
 * ConfigCommand          the parent
 *   ConfigCheckCommand     prints config.EffectiveSettings, and each Finding
 *     ServerFindings         asks Redis and MySQL, and changes nothing
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.check;
