package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.Status;
import io.gameq.healing.WalRow;
import io.gameq.rows.RowImage;
import io.gameq.terminal.Shown;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Every row of a plan that is not simply in MySQL, with what was there before and what comes after:
 * {@code plan.json} (an array) and {@code plan.csv}, readable by their owner alone, since they hold
 * players' data. Not thread-safe.
 */
final class PlanDetails implements Closeable {
  private static final String CSV_HEADINGS =
      "owner,table,key,op,session,version,time_utc,status,reason,mysql_version,"
          + "redis_version,mysql_before,redis_before,after";

  private final JsonGenerator json;
  private final Writer csv;
  private final Path directory;

  /**
   * Begins both files; replaces those of an earlier plan.
   *
   * @throws GameQueueException when they cannot be written
   */
  PlanDetails(Path directory) {
    this.directory = directory;
    try {
      Files.createDirectories(directory, attributes("rwx------"));
      json = new JsonFactory().createGenerator(writer(directory.resolve("plan.json")));
      csv = writer(directory.resolve("plan.csv"));
      json.writeStartArray();
      csv.write(CSV_HEADINGS + "\n");
    } catch (IOException e) {
      throw new GameQueueException("cannot write details into " + directory + ": " + e, e);
    }
  }

  private static Writer writer(Path file) throws IOException {
    Files.deleteIfExists(file);
    Files.createFile(file, attributes("rw-------"));
    return new BufferedWriter(
        Files.newBufferedWriter(file, StandardCharsets.UTF_8, StandardOpenOption.WRITE), 1 << 16);
  }

  private static FileAttribute<?>[] attributes(String permissions) {
    return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : new FileAttribute<?>[0];
  }

  void row(PlannedRow row) {
    if (row.status() == Status.IN_MYSQL) {
      return;
    }
    try {
      writeJson(row);
      writeCsv(row);
    } catch (IOException e) {
      throw new GameQueueException("cannot write details into " + directory + ": " + e, e);
    }
  }

  private void writeJson(PlannedRow row) throws IOException {
    WalRow change = row.change();
    json.writeRaw("\n");
    json.writeStartObject();
    json.writeStringField("owner", row.owner().id());
    json.writeStringField("table", change.table());
    json.writeStringField("key", change.keyText());
    json.writeStringField("op", change.op().name().toLowerCase(Locale.ROOT));
    RowJson.writeCommit(json, change.owner(), change.session().text(), change.version());
    json.writeStringField("status", row.status().name().toLowerCase(Locale.ROOT));
    json.writeStringField("reason", row.reason());
    json.writeStringField("mysqlVersion", RowJson.version(row.mysqlVersion()));
    json.writeStringField("redisVersion", RowJson.version(row.redisVersion()));
    RowJson.write(json, "mysqlBefore", row.contents().mysql());
    RowJson.write(json, "redisBefore", row.contents().redis());
    RowJson.write(json, "after", row.contents().wal());
    json.writeEndObject();
  }

  private void writeCsv(PlannedRow row) throws IOException {
    WalRow change = row.change();
    List<@Nullable String> cells =
        Arrays.asList(
            row.owner().id(),
            change.table(),
            change.keyText(),
            change.op().name().toLowerCase(Locale.ROOT),
            Shown.by(change.owner(), change.session()),
            Long.toUnsignedString(change.version()),
            Shown.utc(Shown.time(change.version())),
            row.status().name().toLowerCase(Locale.ROOT),
            row.reason(),
            RowJson.version(row.mysqlVersion()),
            RowJson.version(row.redisVersion()),
            columns(row.contents().mysql()),
            columns(row.contents().redis()),
            columns(row.contents().wal()));
    String separator = "";
    for (String cell : cells) {
      csv.write(separator);
      csv.write(cell == null ? "" : quoted(cell));
      separator = ",";
    }
    csv.write("\n");
  }

  private static String columns(@Nullable RowImage image) {
    return image == null ? "" : RowJson.value(columns -> RowJson.write(columns, image));
  }

  /** A spreadsheet runs what begins like a formula; a player may have named an item so. */
  private static String quoted(String cell) {
    boolean formula = !cell.isEmpty() && Set.of('=', '+', '-', '@').contains(cell.charAt(0));
    return '"' + (formula ? "'" : "") + cell.replace("\"", "\"\"") + '"';
  }

  @Override
  public void close() {
    try {
      json.writeRaw("\n");
      json.writeEndArray();
      json.close();
      csv.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
