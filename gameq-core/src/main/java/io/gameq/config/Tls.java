package io.gameq.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a connection is encrypted: always with a server whose certificate is valid, made out for the
 * host that was asked for, and signed by a CA that is trusted. The files are read for each new
 * connection. Immutable.
 *
 * @param caFile PEM file with the certificates of the CAs that are trusted; null: those that the
 *     JVM trusts
 * @param clientFile PEM file with this client's private key (PKCS#8, not encrypted) and its
 *     certificates, its own first, for servers that ask for one; null: none
 */
public record Tls(@Nullable Path caFile, @Nullable Path clientFile) {
  /** Trusts the CAs that the JVM trusts. */
  public static Tls verified() {
    return new Tls(null, null);
  }

  /** Trusts the CAs of a PEM file, and no others. */
  public static Tls verifiedBy(Path caFile) {
    return new Tls(caFile, null);
  }

  /** The same with a certificate of this client. */
  public Tls withClient(Path newClientFile) {
    return new Tls(caFile, newClientFile);
  }
}
