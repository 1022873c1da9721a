/**
 * Messages over HTTP, for parts of a back end that are not Java: {@code /api/topics/...}, described
 * by {@code /api/openapi.yaml}. Off unless {@code http.door} opens it.
 *
 * <pre>
 * MessageApi       routes, tokens, bodies up to a limit; opens with the node, closes before it
 *     Actions      what each route does with a topic
 *   PublishedBody  a message as a request has it
 * </pre>
 *
 * <p>A payload is {@code payload}, a JSON object, which Java reads as a record; or {@code
 * payloadBase64}, bytes.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.messages;
