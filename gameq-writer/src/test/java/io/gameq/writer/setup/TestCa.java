package io.gameq.writer.setup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/**
 * A certificate authority that signs what a test needs, in PEM files of a directory. One thread.
 */
public final class TestCa {
  private final Path directory;
  private final String name;
  private final KeyPair keys = newKeys();

  public TestCa(Path directory, String name) {
    this.directory = directory;
    this.name = name;
  }

  /** Its certificate, for {@code caFile}. */
  public Path certificate() throws IOException {
    X509Certificate own = sign(keys, name, null, Duration.ofDays(1));
    return Files.writeString(file(name), pem("CERTIFICATE", encoded(own)));
  }

  /** The files of one who is certified. */
  public record Certified(Path certificate, Path key, Path both) {}

  /** A certificate for a host, or for a client; with a negative time, one that has expired. */
  public Certified sign(String subject, String host, Duration validFor) throws IOException {
    KeyPair its = newKeys();
    String certificate = pem("CERTIFICATE", encoded(sign(its, subject, host, validFor)));
    String key = pem("PRIVATE KEY", its.getPrivate().getEncoded());
    return new Certified(
        Files.writeString(file(subject), certificate),
        Files.writeString(file(subject + "-key"), key),
        Files.writeString(file(subject + "-both"), key + certificate));
  }

  private X509Certificate sign(
      KeyPair its, String subject, @Nullable String host, Duration validFor) {
    Instant until = Instant.now().plus(validFor);
    try {
      JcaX509v3CertificateBuilder certificate =
          new JcaX509v3CertificateBuilder(
              new X500Name("CN=" + name),
              new BigInteger(64, new SecureRandom()),
              Date.from(until.minus(Duration.ofDays(2))),
              Date.from(until),
              new X500Name("CN=" + subject),
              its.getPublic());
      certificate.addExtension(
          Extension.basicConstraints, true, new BasicConstraints(host == null));
      if (host != null) {
        certificate.addExtension(
            Extension.subjectAlternativeName,
            false,
            new GeneralNames(new GeneralName(GeneralName.dNSName, host)));
      }
      return new JcaX509CertificateConverter()
          .getCertificate(
              certificate.build(
                  new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate())));
    } catch (GeneralSecurityException | OperatorCreationException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] encoded(X509Certificate certificate) {
    try {
      return certificate.getEncoded();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static KeyPair newKeys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(256);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String pem(String what, byte[] encoded) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(
            what, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded), what);
  }

  private Path file(String of) {
    return directory.resolve(of + ".pem");
  }
}
