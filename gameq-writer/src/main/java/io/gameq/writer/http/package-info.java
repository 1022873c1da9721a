/**
 * What a writer answers over HTTP: {@code /live}, {@code /ready}, {@code /metrics}, and what is
 * added to it, such as the console.
 *
 * <pre>
 * HttpEndpoint     the server; the Host and the page that a browser names
 *   AccessTokens   the tokens and what they allow; holds back who guesses
 *   JsonBytes      what a request carries, up to a limit
 *   TlsConnector   HTTPS
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.http;
