package io.gameq.writer.http;

import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.config.TlsFiles;
import java.security.KeyStore;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Has Jetty speak HTTPS. Stateless. */
final class TlsConnector {
  private TlsConnector() {}

  /**
   * The connector.
   *
   * @throws io.gameq.GameQueueException when certificate or key cannot be read
   */
  static ServerConnector of(
      HttpSettings settings, TlsFiles files, Server server, HttpConfiguration http) {
    KeyStore keys = PemKeys.read(files);
    SslContextFactory.Server tls = new SslContextFactory.Server();
    tls.setKeyStore(keys);
    tls.setKeyStorePassword(PemKeys.PASSWORD);
    tls.setIncludeProtocols("TLSv1.3", "TLSv1.2");
    HttpConfiguration secure = new HttpConfiguration(http);
    // Which Host is ours is for AccessRules: a writer is also asked by its address.
    secure.addCustomizer(new SecureRequestCustomizer(false));
    ServerConnector connector =
        new ServerConnector(
            server, new SslConnectionFactory(tls, "http/1.1"), new HttpConnectionFactory(secure));
    connector.setHost(settings.address());
    connector.setPort(settings.port());
    return connector;
  }
}
