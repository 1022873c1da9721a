package io.gameq.mysql;

import io.gameq.OwnerId;
import io.gameq.catalog.RowImage;
import io.gameq.catalog.RowKey;

/**
 * One row on its way into MySQL: its newest image, its key, and the owner under which it was
 * changed.
 *
 * @param encoded the image as it was committed
 */
public record RowChange(OwnerId owner, RowKey key, RowImage image, byte[] encoded) {}
