package io.gameq.writer.http;

import io.gameq.log.RepeatedWarnings;
import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.config.TlsFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has Jetty speak HTTPS. Stateless. */
final class TlsConnector {
  private static final Logger LOG = LoggerFactory.getLogger(TlsConnector.class);

  private static final long RENEWAL_SECONDS = 10;
  private static final long WARN_EVERY_SECONDS = 60;

  private TlsConnector() {}

  /**
   * The connector.
   *
   * @throws io.gameq.GameQueueException when certificate or key cannot be read
   */
  static ServerConnector of(
      HttpSettings settings, TlsFiles files, Server server, HttpConfiguration http) {
    SslContextFactory.Server tls = new SslContextFactory.Server();
    Renewal renewal = new Renewal(files, tls, server.getScheduler()); // before they are read
    tls.setKeyStore(PemKeys.read(files));
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
    connector.addBean(renewal);
    return connector;
  }

  /** Takes a certificate that was renewed, for connections that come from then on. */
  private static final class Renewal extends AbstractLifeCycle implements Runnable {
    private final TlsFiles files;
    private final SslContextFactory.Server tls;
    private final Scheduler scheduler;
    private final RepeatedWarnings warnings = new RepeatedWarnings(WARN_EVERY_SECONDS);
    private List<FileTime> taken;

    Renewal(TlsFiles files, SslContextFactory.Server tls, Scheduler scheduler) {
      this.files = files;
      this.tls = tls;
      this.scheduler = scheduler;
      this.taken = written();
    }

    private List<FileTime> written() {
      try {
        return List.of(
            Files.getLastModifiedTime(files.certFile()),
            Files.getLastModifiedTime(files.keyFile()));
      } catch (IOException e) { // while they are replaced
        return List.of();
      }
    }

    @Override
    protected void doStart() {
      lookLater();
    }

    private void lookLater() {
      Scheduler.Task unused = scheduler.schedule(this, RENEWAL_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void run() {
      List<FileTime> now = written();
      if (!now.equals(taken) && !now.isEmpty()) {
        try {
          KeyStore renewed = PemKeys.read(files);
          tls.reload(of -> of.setKeyStore(renewed));
          LOG.info("HTTPS: the certificate in {} is taken from now on", files.certFile());
          taken = now;
        } catch (Exception e) { // Jetty throws what it likes
          warnings.about(
              "certificate", LOG::warn, () -> "HTTPS goes on with the certificate before: " + e);
        }
      }
      if (isRunning()) {
        lookLater();
      }
    }
  }
}
