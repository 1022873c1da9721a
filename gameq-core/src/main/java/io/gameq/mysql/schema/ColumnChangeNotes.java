package io.gameq.mysql.schema;

import io.gameq.mysql.schema.ColumnChanges.Change;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What changes for a game when a column is altered, in words. Stateless. */
final class ColumnChangeNotes {
  private ColumnChangeNotes() {}

  static void add(List<String> notes, String name, @Nullable ColumnFacts before, Change change) {
    String charset = change.charset();
    String old = before == null ? null : before.charset();
    if (charset != null && !charset.equals(old)) {
      notes.add(
          ("column %s takes up to 4 bytes a character in %s: this fails where its row or an"
                  + " index becomes too long")
              .formatted(name, charset));
    }
    String collation = change.collation();
    if (collation != null && before != null && !collation.equals(before.collation())) {
      notes.add(
          ("from then on 'Bob' and 'bob' are two values of column %s, in WHERE and in its keys"
                  + " as well")
              .formatted(name));
    }
    if (change.exact()) {
      notes.add(
          ("column %s keeps what it holds and rounds nothing more; for amounts of money make it"
                  + " DECIMAL instead")
              .formatted(name));
    }
  }
}
