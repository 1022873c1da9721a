/**
 * What a writer answers over HTTP: {@code /live}, {@code /ready}, {@code /metrics}.
 *
 * <pre>
 * HttpEndpoint    the server: who may ask, and for what
 *   AccessRules   the token, and the Host that a browser names
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.http;
