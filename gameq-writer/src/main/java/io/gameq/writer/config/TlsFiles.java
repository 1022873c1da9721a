package io.gameq.writer.config;

import java.nio.file.Path;

/**
 * Where a writer finds what it needs to answer over HTTPS; immutable.
 *
 * @param certFile PEM: its certificate, then those that lead to a known authority
 * @param keyFile PEM: the key of the first, PKCS #8 and not encrypted
 */
public record TlsFiles(Path certFile, Path keyFile) {}
