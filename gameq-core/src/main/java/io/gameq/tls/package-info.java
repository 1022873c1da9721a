/**
 * Certificates in PEM files, and why a server is not trusted. Internal.
 *
 * <pre>
 * Tls (API)      which CAs are trusted, and who we are
 *   PemTls       reads the files: a context to connect with
 * TlsRefusal     why a connection came to nothing, when it is for certificates: no outage
 * </pre>
 *
 * <p>Redis' client reads the same files by itself; MySQL's takes a context from here.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.tls;
