package io.gameq.writer.http;

import io.gameq.GameQueueException;
import io.gameq.writer.config.TlsFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a certificate and its key from PEM files, as Let's Encrypt writes them. Stateless. */
final class PemKeys {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");

  /** In memory only. */
  static final String PASSWORD = "in-memory";

  private PemKeys() {}

  /**
   * A key store with the one key.
   *
   * @throws GameQueueException naming the setting, when a file cannot be read or is not what it
   *     should be, or certificate and key do not belong together
   */
  static KeyStore read(TlsFiles files) {
    Certificate[] chain = certificates(files.certFile());
    PrivateKey key = key(files.keyFile(), chain[0].getPublicKey().getAlgorithm());
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry("writer", key, PASSWORD.toCharArray(), chain);
      return store;
    } catch (GeneralSecurityException | IOException e) {
      throw new GameQueueException(
          "settings 'http.tls.certFile' and 'http.tls.keyFile' do not go together", e);
    }
  }

  private static Certificate[] certificates(Path file) {
    Certificate[] chain;
    try {
      chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(content("certFile", file)))
              .toArray(Certificate[]::new);
    } catch (GeneralSecurityException e) {
      throw new GameQueueException(problem("certFile", file, "is no certificate in PEM"), e);
    }
    if (chain.length == 0) {
      throw new GameQueueException(problem("certFile", file, "has no certificate in PEM"));
    }
    return chain;
  }

  private static PrivateKey key(Path file, String algorithm) {
    Matcher pem = KEY.matcher(new String(content("keyFile", file), StandardCharsets.US_ASCII));
    if (!pem.find()) {
      throw new GameQueueException(
          problem(
              "keyFile",
              file,
              "has no key in PEM as PKCS #8 ('BEGIN PRIVATE KEY'): 'openssl pkcs8 -topk8 -nocrypt'"
                  + " makes one"));
    }
    try {
      byte[] der = Base64.getMimeDecoder().decode(pem.group(1));
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new GameQueueException(
          problem("keyFile", file, "has another kind of key than the certificate"), e);
    }
  }

  private static byte[] content(String setting, Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new GameQueueException(problem(setting, file, "cannot be read"), e);
    }
  }

  private static String problem(String setting, Path file, String problem) {
    return "setting 'http.tls.%s': %s %s".formatted(setting, file, problem);
  }
}
