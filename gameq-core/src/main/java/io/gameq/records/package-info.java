/**
 * Records of the game, and what they hold, as MessagePack and as JSON. Internal.
 *
 * <pre>
 * RecordClass    reads the components of a record, and makes records
 * PackedValue    packs values of one type: PackedValues finds it, RecordValue is that of a record,
 *                a map of its components by name
 * PackedJson     what was packed as JSON and back, without its class
 * </pre>
 *
 * <p>Payloads of topics are such MessagePack, and JSON columns such JSON.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.records;
