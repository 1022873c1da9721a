/**
 * Messages over HTTP, for parts of a back end that are not Java: {@code /api/topics/...}, described
 * by {@code /api/openapi.yaml}. Off unless {@code http.door} opens it.
 *
 * <pre>
 * MessageDoor      adds the routes, opens with the node, closes before it
 *   DoorRoute      each route: method, path, what it needs
 *   DoorRequest    what a request says: bounded, and read into one of DoorBodies' records
 *   DoorActions    what each route does with a topic
 *   PublishedBody  a message as a request has it
 *   DoorAnswer     JSON and status; what an exception comes to
 * </pre>
 *
 * <p>A payload is {@code payload}, a JSON object, which Java reads as a record; or {@code
 * payloadBase64}, bytes.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.door;
