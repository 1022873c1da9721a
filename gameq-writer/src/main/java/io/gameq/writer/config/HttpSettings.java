package io.gameq.writer.config;

import io.gameq.writer.config.ConfigReader.DoorMode;
import io.gameq.writer.config.ConfigReader.TlsFiles;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a writer answers over HTTP, and whom; immutable. Shown without secrets.
 *
 * @param port 0: nowhere
 * @param isPortGiven whether the configuration file names the port
 * @param tokens one of which requests must carry; none: nobody is asked for one
 * @param tls null: plain HTTP
 * @param isBehindProxy whether requests come from a proxy, whose Forwarded or X-Forwarded headers
 *     say by which name, and from where
 */
public record HttpSettings(
    String address,
    int port,
    boolean isPortGiven,
    List<AccessToken> tokens,
    @Nullable TlsFiles tls,
    boolean isBehindProxy,
    ConsoleMode console,
    DoorMode door) {
  /** This host alone. */
  public static final String DEFAULT_ADDRESS = "127.0.0.1";

  public static final int DEFAULT_PORT = 7420;

  public HttpSettings {
    tokens = List.copyOf(tokens);
  }

  /** As a browser names it: {@code http://127.0.0.1:7420}. */
  public String url(int listensOn) {
    String host = address.contains(":") ? "[" + address + "]" : address;
    return "%s://%s:%s".formatted(tls == null ? "http" : "https", host, listensOn);
  }
}
