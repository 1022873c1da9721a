package io.gameq.mysql;

import com.mysql.cj.conf.ConnectionUrlParser;
import com.mysql.cj.conf.HostInfo;
import com.mysql.cj.conf.PropertyKey;
import com.mysql.cj.exceptions.CJException;
import io.gameq.GameQueueException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

  /**
   * Given beside the URL, these win over the URL's own. autoReconnect would run a transaction's
   * second half by itself on a new connection. allowMultiQueries is for {@link Statements}: all SQL
   * is gameq's own; names in it are quoted, values are parameters.
   */
  static final Map<PropertyKey, String> FORCED =
      words(
              """
              connectionTimeZone=UTC characterEncoding=UTF-8 zeroDateTimeBehavior=EXCEPTION
              tinyInt1isBit=false transformedBitIsBoolean=false yearIsDateType=false
              useAffectedRows=false useServerPrepStmts=true cachePrepStmts=true
              rewriteBatchedStatements=true jdbcCompliantTruncation=true allowMultiQueries=true
              allowLoadLocalInfile=false autoReconnect=false
              """)
          .map(word -> word.split("="))
          .collect(Collectors.toMap(of -> PropertyKey.fromValue(of[0]), of -> of[1]));

  /** How to reach a server, to trust it and to log in, and what a connection keeps. */
  private static final Set<PropertyKey> ALLOWED =
      words(
              """
              connectTimeout socketTimeout localSocketAddress socksProxyHost socksProxyPort
              socksProxyRemoteDns tcpKeepAlive tcpNoDelay tcpRcvBuf tcpSndBuf tcpTrafficClass
              useCompression maxAllowedPacket prepStmtCacheSize prepStmtCacheSqlLimit
              connectionAttributes
              allowPublicKeyRetrieval serverRSAPublicKeyFile authenticationPlugins
              defaultAuthenticationPlugin disabledAuthenticationPlugins passwordCharacterEncoding
              ldapServerHostname ociConfigFile ociConfigProfile
              sslMode useSSL requireSSL verifyServerCertificate tlsVersions tlsCiphersuites
              fipsCompliantJsse fallbackToSystemKeyStore fallbackToSystemTrustStore
              clientCertificateKeyStoreUrl clientCertificateKeyStoreType
              clientCertificateKeyStorePassword trustCertificateKeyStoreUrl
              trustCertificateKeyStoreType trustCertificateKeyStorePassword
              """)
          .map(PropertyKey::fromValue)
          .collect(Collectors.toUnmodifiableSet()); // of no name that the driver does not know

  private static final Set<PropertyKey> LOGIN =
      words("user password password1 password2 password3")
          .map(PropertyKey::fromValue)
          .collect(Collectors.toUnmodifiableSet());

  private static Stream<String> words(String text) {
    return Arrays.stream(text.split("\\s+"));
  }

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
