package io.gameq.tls;

import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Tells why a connection came to nothing when that is for certificates: to try again does not help
 * then. Stateless.
 */
public final class TlsRefusal {
  private TlsRefusal() {}

  /** What is wrong and the remedy, in one line; null when it is nothing of TLS. */
  public static @Nullable String reason(@Nullable Throwable error) {
    String reason = null;
    for (Throwable e = error; e != null; e = e.getCause() == e ? null : e.getCause()) {
      String found = ofOne(e);
      reason = found == null ? reason : found; // the innermost knows best
    }
    return reason;
  }

  private static @Nullable String ofOne(Throwable e) {
    String message = String.valueOf(e.getMessage());
    if (e instanceof CertificateExpiredException) {
      return "its certificate has expired: renew it";
    }
    if (e instanceof CertificateNotYetValidException) {
      return "its certificate is not valid yet: compare the clocks of both hosts";
    }
    if (e instanceof CertificateException && message.contains("matching")) {
      return ("its certificate is made out for another host (%s): connect by a name that it has, or"
              + " give it this one as a subject alternative name")
          .formatted(message);
    }
    if (message.contains("unable to find valid certification path")
        || message.contains("path building failed")
        || message.contains("signature check failed")) {
      return "its certificate is not signed by a CA that is trusted: set tls.caFile to the PEM file"
          + " of its CA";
    }
    if (e instanceof CertificateException) {
      return "its certificate is refused: " + message;
    }
    if (e instanceof SSLException) {
      return ofTls(message);
    }
    return null;
  }

  private static @Nullable String ofTls(String message) {
    String low = message.toLowerCase(Locale.ROOT);
    if (low.contains("fatal alert")) {
      return ("it refused our side of TLS (%s): does it ask for a client certificate"
              + " (tls.clientFile), or for other protocols?")
          .formatted(message);
    }
    if (low.contains("not an ssl/tls record") || low.contains("unsupported or unrecognized ssl")) {
      return "it does not speak TLS on this port: correct the port, or switch TLS on at the server";
    }
    return null;
  }
}
