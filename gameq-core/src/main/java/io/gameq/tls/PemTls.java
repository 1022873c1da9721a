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
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
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
      char[] inMemory = {'-'};
      KeyStore store = keyStore(key(file), certificates(file), inMemory);
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, inMemory);
      return keys.getKeyManagers();
    } catch (GeneralSecurityException e) {
      throw unreadable(file, e);
    }
  }

  /** A key store with one key; throws when it does not go with the certificates. */
  public static KeyStore keyStore(
      PrivateKey key, List<? extends Certificate> certificates, char[] password)
      throws GeneralSecurityException {
    try {
      if (!key.getAlgorithm().equals(certificates.get(0).getPublicKey().getAlgorithm())) {
        throw new KeyStoreException("the key is of another kind than the certificate");
      }
      KeyStore store = emptyStore();
      store.setKeyEntry("own", key, password, certificates.toArray(Certificate[]::new));
      return store;
    } catch (IOException e) {
      throw new KeyStoreException("a key store in memory", e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  /** The certificates of a file; throws GameQueueException naming it. */
  public static List<? extends Certificate> certificates(Path file) {
    StringBuilder pem = new StringBuilder();
    Matcher found = CERTIFICATES.matcher(text(file));
    while (found.find()) {
      pem.append(found.group()).append('\n');
    }
    if (pem.isEmpty()) {
      throw new GameQueueException(
          "%s holds no certificate: it must be a PEM file, with BEGIN CERTIFICATE in it"
              .formatted(file));
    }
    byte[] bytes = pem.toString().getBytes(StandardCharsets.US_ASCII);
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      return List.copyOf(factory.generateCertificates(new ByteArrayInputStream(bytes)));
    } catch (GeneralSecurityException e) {
      throw unreadable(file, e);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /** The private key of a file; throws GameQueueException naming it. */
  public static PrivateKey key(Path file) {
    Matcher found = KEY.matcher(text(file));
    if (!found.find()) {
      throw new GameQueueException(
          ("%s holds no private key: it must have BEGIN PRIVATE KEY in it (PKCS#8, not"
                  + " encrypted; 'openssl pkcs8 -topk8 -nocrypt' makes one)")
              .formatted(file));
    }
    for (String kind : KEY_KINDS) {
      try {
        byte[] encoded = Base64.getMimeDecoder().decode(found.group(1));
        return KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(encoded));
      } catch (GeneralSecurityException | IllegalArgumentException e) {
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
