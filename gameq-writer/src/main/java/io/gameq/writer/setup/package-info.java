/**
 * What an operator calls before a writer starts, or when servers change.
 *
 * <pre>
 * ConfigCommand     config check: the settings in effect, and whether a writer could run
 * SecurityCommand   security redis, security mysql: scripts that make users with the least rights
 * TermCommand       term: which Redis counts
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.setup;
