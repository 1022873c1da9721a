package io.gameq.mysql.schema;

/**
 * A table to be managed, registered in gameq_table or about to be.
 *
 * @param ownerKind the kind of the owner ids, as {@code player}
 * @param ownerColumn the column that holds the key of the owner id
 */
public record TableSpec(String name, String ownerKind, String ownerColumn) {}
