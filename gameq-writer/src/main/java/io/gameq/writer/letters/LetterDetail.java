package io.gameq.writer.letters;

import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.rows.RowEdit;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ValueText;
import io.gameq.terminal.Shown;
import io.gameq.writer.letters.ChosenLetters.ListedLetter;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.RowReading.Decoded;
import io.gameq.writer.mysql.RowReading.Present;
import io.gameq.writer.mysql.RowReading.Reading;
import io.gameq.writer.mysql.RowReading.Undecodable;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter in full, beside what MySQL holds of its row; immutable.
 *
 * @param op what the letter does to the row: put, delete or moved; null when it cannot be decoded
 * @param columns all of the row, of a delete of an absent one the key's; none when it cannot be
 *     decoded
 * @param there what MySQL has of the row, in words
 * @param undecodable why the row cannot be decoded, or null
 * @param hasValues whether the columns have their values, or these are hidden
 * @param revision changes whenever the kept row changes; an edit names the one that was looked at
 */
public record LetterDetail(
    ListedLetter letter,
    @Nullable String op,
    List<ColumnDetail> columns,
    String there,
    @Nullable String undecodable,
    boolean hasValues,
    String revision) {
  private static final int REVISION_BYTES = 8;

  public LetterDetail {
    columns = List.copyOf(columns);
  }

  /**
   * One column; values are null where they are hidden.
   *
   * @param named whether the letter sets it; else a put keeps what MySQL has
   * @param differs whether the letter sets it to something else than MySQL has
   * @param editable whether an edit may change it
   * @param refused the letter's value on one line, NULL included; null too when it is not named
   * @param edit the same as an edit takes it; null for NULL, too
   * @param present what MySQL has, on one line; null too when it has no such row
   */
  public record ColumnDetail(
      String name,
      boolean named,
      boolean differs,
      boolean editable,
      @Nullable String refused,
      @Nullable String edit,
      @Nullable String present) {}

  static LetterDetail of(DeadLetters letters, Stored stored, boolean withValues) {
    ListedLetter listed = ListedLetter.of(stored, letters.states(List.of(stored)).get(0));
    Refused refused = stored.refused();
    Reading reading = letters.rows().read(refused.key(), refused.image());
    if (!(reading instanceof Decoded decoded)) {
      return new LetterDetail(
          listed,
          null,
          List.of(),
          "",
          String.format(
              Locale.ROOT,
              "its row of %,d bytes cannot be decoded: %s",
              refused.image().length,
              ((Undecodable) reading).reason()),
          withValues,
          revision(stored));
    }
    Present present = letters.rows().present(refused.owner(), decoded.key());
    return new LetterDetail(
        listed,
        decoded.image().op().name().toLowerCase(Locale.ROOT),
        columns(decoded.image(), present.row(), withValues),
        there(present),
        null,
        withValues,
        revision(stored));
  }

  /**
   * The columns of a row that was kept aside, each beside what MySQL has.
   *
   * @param present null when MySQL has no such row
   */
  public static List<ColumnDetail> columns(
      RowImage image, @Nullable RowImage present, boolean withValues) {
    boolean isDelete = image.op() == RowOp.DELETE;
    List<Column> keys = image.table().keyColumns();
    List<ColumnDetail> columns = new ArrayList<>();
    for (Column column : isDelete && present == null ? keys : image.table().columns()) {
      int index = image.table().indexOf(column.name());
      boolean named = isDelete ? keys.contains(column) : image.names(index);
      Object refused = named ? image.values()[isDelete ? keys.indexOf(column) : index] : null;
      boolean isThere = present != null && present.table().has(column.name());
      Object there =
          isThere
              ? Objects.requireNonNull(present).values()[present.table().indexOf(column.name())]
              : null;
      boolean values = withValues && named;
      columns.add(
          new ColumnDetail(
              column.name(),
              named,
              named && isThere && !Objects.deepEquals(refused, there),
              image.op() == RowOp.PUT && RowEdit.isEditable(image.table(), index),
              values ? Shown.value(refused) : null,
              values && refused != null ? ValueText.of(refused) : null,
              withValues && isThere ? Shown.value(there) : null));
    }
    return columns;
  }

  private static String there(Present present) {
    RowImage row = present.row();
    if (row != null) {
      return "version " + Shown.version(row.version());
    }
    Long deleted = present.deletedVersion();
    return deleted == null ? "no such row" : "deleted in version " + Shown.version(deleted);
  }

  /** Of a letter as it is stored. */
  static String revision(Stored letter) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(
          Long.toUnsignedString(letter.refused().version()).getBytes(StandardCharsets.US_ASCII));
      byte[] hash = digest.digest(letter.refused().image());
      return HexFormat.of().formatHex(Arrays.copyOf(hash, REVISION_BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
