package io.gameq.tls;

import io.gameq.GameQueueException;
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
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Makes a TLS context of PEM files. Stateless. */
public final class PemTls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  private static final Pattern CERTIFICATES =
      Pattern.compile("-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----");

  private static final List<String> KEY_KINDS = List.of("RSA", "EC", "EdDSA");

  private PemTls() {}

  /**
   * A context that trusts what the files say, as they are now.
   *
   * @param caFile null: the CAs that the JVM trusts
   * @param clientFile null: no certificate of this client
   * @throws GameQueueException when a file cannot be read or holds no certificate, naming it
   */
  public static SSLContext context(@Nullable Path caFile, @Nullable Path clientFile) {
    TrustManager @Nullable [] trusted = caFile == null ? null : trusted(caFile);
    KeyManager @Nullable [] own = clientFile == null ? null : own(clientFile);
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(own, trusted, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new GameQueueException("this JVM cannot do TLS", e);
    }
  }

  private static TrustManager[] trusted(Path file) {
    try {
      KeyStore store = emptyStore();
      int number = 0;
      for (Certificate certificate : certificates(file)) {
        store.setCertificateEntry("ca" + number++, certificate);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      return trust.getTrustManagers();
    } catch (GeneralSecurityException | IOException e) {
      throw unreadable(file, e);
    }
  }

  private static KeyManager[] own(Path file) {
    try {
      KeyStore store = emptyStore();
      char[] inMemory = {'-'};
      store.setKeyEntry("own", key(file), inMemory, certificates(file).toArray(Certificate[]::new));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, inMemory);
      return keys.getKeyManagers();
    } catch (GeneralSecurityException | IOException e) {
      throw unreadable(file, e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static List<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException, IOException {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    StringBuilder pem = new StringBuilder();
    Matcher found = CERTIFICATES.matcher(Files.readString(file));
    while (found.find()) {
      pem.append(found.group()).append('\n');
    }
    if (pem.isEmpty()) {
      throw new GameQueueException(
          "%s holds no certificate: it must be a PEM file, with BEGIN CERTIFICATE in it"
              .formatted(file));
    }
    byte[] bytes = pem.toString().getBytes(StandardCharsets.US_ASCII);
    return List.copyOf(factory.generateCertificates(new ByteArrayInputStream(bytes)));
  }

  private static PrivateKey key(Path file) throws GeneralSecurityException, IOException {
    Matcher found = KEY.matcher(Files.readString(file));
    if (!found.find()) {
      throw new GameQueueException(
          ("%s holds no private key: it must have BEGIN PRIVATE KEY in it (PKCS#8, not"
                  + " encrypted), besides the certificates")
              .formatted(file));
    }
    byte[] encoded = Base64.getMimeDecoder().decode(found.group(1));
    for (String kind : KEY_KINDS) {
      try {
        return KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(encoded));
      } catch (InvalidKeySpecException e) {
        // of another kind
      }
    }
    throw new GameQueueException(
        "%s holds a private key of an unknown kind: use RSA, EC or Ed25519".formatted(file));
  }

  private static GameQueueException unreadable(Path file, Exception e) {
    return new GameQueueException(
        "%s cannot be read as a PEM file: check that it is there, complete, and may be read"
            .formatted(file),
        e);
  }
}
