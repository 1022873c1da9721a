package io.gameq.mysql;

import com.mysql.cj.jdbc.exceptions.PacketTooBigException;
import io.gameq.DeadLetter;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowImage;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One row on its way into MySQL: its newest image, its key, and the owner under which it was
 * changed.
 *
 * @param encoded the image as it was committed
 */
public record RowChange(OwnerId owner, RowKey key, RowImage image, byte[] encoded) {}
