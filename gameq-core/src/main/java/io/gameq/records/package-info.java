/**
 * Records of the game, and what they hold, as MessagePack and as JSON. Internal.
 *
 * <pre>
 * GameRecord     the components of a record class: reads them, and makes records; rows use it too
 * PackedType     packs values of one type: a record as a map of its components by name
 * PackedJson     what was packed as JSON and back, without its class
 * </pre>
 *
 * <p>Payloads of topics are such MessagePack, and JSON columns such JSON.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.records;
