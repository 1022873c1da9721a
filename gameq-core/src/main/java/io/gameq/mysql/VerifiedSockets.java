package io.gameq.mysql;

import com.mysql.cj.conf.PropertyKey;
import com.mysql.cj.conf.PropertySet;
import com.mysql.cj.log.Log;
import com.mysql.cj.protocol.ServerSession;
import com.mysql.cj.protocol.SocketConnection;
import com.mysql.cj.protocol.StandardSocketFactory;
import io.gameq.Tls;
import io.gameq.tls.PemTls;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * Connects the driver over TLS to a server whose certificate fits. The driver itself takes key
 * stores only, in files of their own: these are PEM files, read for each connection, with nothing
 * written to a disk. Made by the driver; one for each connection.
 */
@SuppressWarnings("TypeParameterUnusedInFormals") // the driver's interface
public final class VerifiedSockets extends StandardSocketFactory {
  private @Nullable String askedHost;
  private int askedPort;
  private @Nullable PropertySet settings;

  /** What has the driver use this class for a connection. */
  static Map<String, String> properties(Tls tls) {
    Map<String, String> properties = new TreeMap<>();
    properties.put("sslMode", "VERIFY_IDENTITY"); // no connection without TLS
    properties.put("socketFactory", VerifiedSockets.class.getName());
    if (tls.caFile() != null) {
      properties.put("trustCertificateKeyStoreUrl", tls.caFile().toString());
    }
    if (tls.clientFile() != null) {
      properties.put("clientCertificateKeyStoreUrl", tls.clientFile().toString());
    }
    return properties;
  }

  @Override
  public <T extends Closeable> T connect(
      String hostname, int portNumber, PropertySet propertySet, int loginTimeout)
      throws IOException {
    askedHost = hostname;
    askedPort = portNumber;
    settings = propertySet;
    return super.connect(hostname, portNumber, propertySet, loginTimeout);
  }

  @Override
  public <T extends Closeable> T performTlsHandshake(
      SocketConnection connection, ServerSession session) throws IOException {
    return performTlsHandshake(connection, session, null);
  }

  @Override
  @SuppressWarnings("unchecked") // by the driver's interface
  public <T extends Closeable> T performTlsHandshake(
      SocketConnection connection, ServerSession session, @Nullable Log log) throws IOException {
    SSLSocket tls =
        (SSLSocket)
            PemTls.context(
                    file(PropertyKey.trustCertificateKeyStoreUrl),
                    file(PropertyKey.clientCertificateKeyStoreUrl))
                .getSocketFactory()
                .createSocket(rawSocket, askedHost, askedPort, true);
    SSLParameters parameters = tls.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS"); // the host is the certificate's
    tls.setSSLParameters(parameters);
    tls.startHandshake();
    sslSocket = tls;
    return (T) tls;
  }

  private @Nullable Path file(PropertyKey key) {
    String name = settings == null ? null : settings.getStringProperty(key).getValue();
    return name == null ? null : Path.of(name);
  }
}
