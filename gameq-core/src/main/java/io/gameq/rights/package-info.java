/**
 * The least rights in Redis and MySQL, as scripts: {@code redis.acl} and {@code mysql.sql} are the
 * only copies. Internal.
 *
 * <pre>
 * RedisRights   redis.acl  ${user} ${namespace}              and ${NODE_SHA256} ... by the operator
 * MySqlRights   mysql.sql  ${user} ${database} ${table}...   and ${NODE_PASSWORD} ...
 *   RightsScript           reads one, and puts names in place
 * Role                     whose rights
 * </pre>
 *
 * <p>Tests run with these users: a command or table that is missing here fails them.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.rights;
