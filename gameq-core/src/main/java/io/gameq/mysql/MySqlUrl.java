package io.gameq.mysql;

import com.mysql.cj.conf.ConnectionUrlParser;
import com.mysql.cj.conf.HostInfo;
import com.mysql.cj.conf.PropertyKey;
import com.mysql.cj.exceptions.CJException;
import io.gameq.GameQueueException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code mysql.url}, taken apart by the driver; immutable. One server, and options that say how to
 * reach it and what a connection costs. What values, row counts or safety depend on is gameq's own
 * ({@link #FORCED}), or refused by name: an option that nobody has thought of changes nothing.
 *
 * @param options by the driver's names: "Configuration Properties" of MySQL's Connector/J guide
 */
record MySqlUrl(String address, String database, Map<String, String> options) {
  private static final String PREFIX = "jdbc:mysql://";
  private static final int PORT = 3306;

  /** Given beside the URL, these win over the URL's own. */
  static final Map<PropertyKey, String> FORCED =
      Map.ofEntries(
          Map.entry(PropertyKey.connectionTimeZone, "UTC"),
          Map.entry(PropertyKey.characterEncoding, "UTF-8"),
          Map.entry(PropertyKey.zeroDateTimeBehavior, "EXCEPTION"),
          Map.entry(PropertyKey.tinyInt1isBit, "false"),
          Map.entry(PropertyKey.transformedBitIsBoolean, "false"),
          Map.entry(PropertyKey.yearIsDateType, "false"),
          Map.entry(PropertyKey.useAffectedRows, "false"),
          Map.entry(PropertyKey.useServerPrepStmts, "true"),
          Map.entry(PropertyKey.cachePrepStmts, "true"),
          Map.entry(PropertyKey.rewriteBatchedStatements, "true"),
          Map.entry(PropertyKey.jdbcCompliantTruncation, "true"),
          // All SQL is gameq's own; names in it are quoted, values are parameters. See Statements.
          Map.entry(PropertyKey.allowMultiQueries, "true"),
          Map.entry(PropertyKey.allowLoadLocalInfile, "false"),
          // Would run a transaction's second half by itself on a new connection.
          Map.entry(PropertyKey.autoReconnect, "false"));

  /** How to reach a server, to trust it and to log in, and what a connection keeps. */
  private static final Set<PropertyKey> ALLOWED =
      Set.of(
          PropertyKey.connectTimeout,
          PropertyKey.socketTimeout,
          PropertyKey.localSocketAddress,
          PropertyKey.socksProxyHost,
          PropertyKey.socksProxyPort,
          PropertyKey.socksProxyRemoteDns,
          PropertyKey.tcpKeepAlive,
          PropertyKey.tcpNoDelay,
          PropertyKey.tcpRcvBuf,
          PropertyKey.tcpSndBuf,
          PropertyKey.tcpTrafficClass,
          PropertyKey.useCompression,
          PropertyKey.maxAllowedPacket,
          PropertyKey.prepStmtCacheSize,
          PropertyKey.prepStmtCacheSqlLimit,
          PropertyKey.connectionAttributes,
          PropertyKey.allowPublicKeyRetrieval,
          PropertyKey.serverRSAPublicKeyFile,
          PropertyKey.authenticationPlugins,
          PropertyKey.defaultAuthenticationPlugin,
          PropertyKey.disabledAuthenticationPlugins,
          PropertyKey.passwordCharacterEncoding,
          PropertyKey.ldapServerHostname,
          PropertyKey.ociConfigFile,
          PropertyKey.ociConfigProfile,
          PropertyKey.sslMode,
          PropertyKey.useSSL,
          PropertyKey.requireSSL,
          PropertyKey.verifyServerCertificate,
          PropertyKey.tlsVersions,
          PropertyKey.tlsCiphersuites,
          PropertyKey.fipsCompliantJsse,
          PropertyKey.fallbackToSystemKeyStore,
          PropertyKey.fallbackToSystemTrustStore,
          PropertyKey.clientCertificateKeyStoreUrl,
          PropertyKey.clientCertificateKeyStoreType,
          PropertyKey.clientCertificateKeyStorePassword,
          PropertyKey.trustCertificateKeyStoreUrl,
          PropertyKey.trustCertificateKeyStoreType,
          PropertyKey.trustCertificateKeyStorePassword);

  private static final Set<PropertyKey> LOGIN =
      Set.of(
          PropertyKey.USER,
          PropertyKey.PASSWORD,
          PropertyKey.password1,
          PropertyKey.password2,
          PropertyKey.password3);

  MySqlUrl {
    options = Map.copyOf(options);
  }

  /**
   * Takes a URL apart.
   *
   * @throws GameQueueException that names what is wrong, and never the URL, which may hold a secret
   */
  static MySqlUrl parse(String url) {
    if (!url.startsWith(PREFIX)) {
      throw new GameQueueException(
          ("mysql.url must begin with %s and give one server, the primary (MariaDB too:"
                  + " the driver is MySQL's)")
              .formatted(PREFIX));
    }
    String database;
    List<HostInfo> hosts;
    Map<String, String> given;
    try {
      ConnectionUrlParser parts = ConnectionUrlParser.parseConnectionString(url);
      database = parts.getPath();
      hosts = parts.getHosts();
      given = parts.getProperties();
    } catch (CJException | IllegalArgumentException e) { // whose texts hold parts of the URL
      throw new GameQueueException(
          "mysql.url cannot be read: write " + PREFIX + "host:port/database");
    }
    if (hosts.size() > 1) {
      throw new GameQueueException(
          "mysql.url gives %s servers: give one, the primary, or an address that follows it"
              .formatted(hosts.size()));
    }
    HostInfo host = hosts.get(0);
    if (isGiven(host.getUser()) || isGiven(host.getPassword())) {
      throw carriesLogin();
    }
    if (!isGiven(host.getHost()) || !host.getHostProperties().isEmpty()) {
      throw new GameQueueException(
          "mysql.url gives no server that can be read: write " + PREFIX + "host:port/database");
    }
    Map<String, String> options = new HashMap<>();
    given.forEach((name, value) -> options.put(option(name), value));
    int port = host.getPort() < 0 ? PORT : host.getPort();
    return new MySqlUrl(host.getHost() + ":" + port, database == null ? "" : database, options);
  }

  private static boolean isGiven(@Nullable String part) {
    return part != null && !part.isEmpty();
  }

  /** The driver shows its URL in errors. */
  private static GameQueueException carriesLogin() {
    return new GameQueueException(
        "mysql.url carries a login: use mysql.user and mysql.password or mysql.passwordFile");
  }

  private static String option(String name) {
    PropertyKey key = PropertyKey.fromValue(name);
    if (key != null && LOGIN.contains(key)) {
      throw carriesLogin();
    }
    if (key == null) {
      throw new GameQueueException(
          "mysql.url has the option %s, which the driver does not know: correct or remove it"
              .formatted(name));
    }
    if (!ALLOWED.contains(key) && !FORCED.containsKey(key)) {
      throw new GameQueueException(
          ("mysql.url has the option %s, which may change what is read or written: remove it;"
                  + " gameq sets what it needs, and takes options of the network, TLS and login")
              .formatted(name));
    }
    return key.getKeyName();
  }
}
