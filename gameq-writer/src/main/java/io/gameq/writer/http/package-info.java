/**
 * What a writer answers over HTTP: {@code /live}, {@code /ready}, {@code /metrics}, and what is
 * added to it, such as the console.
 *
 * <pre>
 * HttpEndpoint     the server
 *   AccessRules    the Host that a browser names
 *   AccessTokens   the tokens and what they allow; WrongTokens holds back who guesses
 *     Bearers      programs that carry one in each request
 *   JsonBytes      what a request carries, up to a limit
 *   OwnPage        that a request came from our own page, if from a page at all
 *   TlsConnector   HTTPS, with the certificate and key that PemKeys reads
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.http;
