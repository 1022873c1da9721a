/**
 * {@code gameq-writer security redis} and {@code security mysql}: the scripts that make users with
 * the least rights. They ask no server. The scripts are those of {@link io.gameq.rights}.
 *
 * <pre>
 * SecurityCommand           the parent of both
 *   RedisUsersCommand       for redis-cli
 *   MySqlUsersCommand       for mysql or mariadb
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.security;
