package io.gameq.writer.config;

import org.jspecify.annotations.Nullable;

/**
 * Where a writer answers over HTTP; immutable. Shown without the token.
 *
 * @param port 0: nowhere
 * @param isPortGiven whether the configuration file names the port
 * @param token that requests must carry; null: none
 */
public record HttpSettings(String address, int port, boolean isPortGiven, @Nullable String token) {
  /** This host alone. */
  public static final String DEFAULT_ADDRESS = "127.0.0.1";

  public static final int DEFAULT_PORT = 7420;

  @Override
  public String toString() {
    return "HttpSettings[address=%s, port=%d, token=%s]"
        .formatted(address, port, token == null ? "none" : "***");
  }
}
