package io.gameq.writer.campaign.messages;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** All that the nodes of one case noted of messages. Used by one thread. */
public final class MessageHistory {
  final Map<String, Published> published = new LinkedHashMap<>();
  final Map<String, List<Published>> commits = new LinkedHashMap<>();
  private final Map<String, Handled> takes = new HashMap<>();

  /** Reads the notes of a node. */
  public MessageHistory read(Path file) throws IOException {
    LineFile.read(file).forEach(line -> readLine(line.split("\t", -1)));
    return this;
  }

  void readLine(String... at) {
    long nanos = Long.parseLong(at[1]);
    switch (at[0]) {
      case MessageNotes.PUBLISH -> {
        Published of = new Published(at, published.size());
        published.put(of.id, of);
        commits.computeIfAbsent(of.commit, commit -> new ArrayList<>()).add(of);
      }
      case MessageNotes.QUEUED -> commit(at[2]).forEach(of -> of.queuedAt = nanos);
      case MessageNotes.REFUSED -> commit(at[2]).forEach(of -> of.isRefused = true);
      case MessageNotes.UNSURE -> {}
      case MessageNotes.DELETE -> published(at[2]).deleteInvokedAt = nanos;
      case MessageNotes.DELETED -> published(at[2]).deletedAt = nanos;
      case MessageNotes.TAKEN -> takes.put(at[2], new Handled(at));
      case MessageNotes.EXTENDED -> take(at[2]).leaseEnd = Long.parseLong(at[3]);
      case MessageNotes.ROWS -> take(at[2]).rows = at[3];
      case MessageNotes.THREW -> take(at[2]).threwAt = nanos;
      case MessageNotes.DONE -> take(at[2]).doneAt = nanos;
      default -> throw new IllegalStateException("not a line of notes: " + String.join(" ", at));
    }
  }

  private List<Published> commit(String id) {
    return Objects.requireNonNull(commits.get(id), id);
  }

  private Published published(String id) {
    return Objects.requireNonNull(published.get(id), id);
  }

  private Handled take(String take) {
    return Objects.requireNonNull(takes.get(take), take);
  }

  /** Runs of handlers, in the order in which they began. */
  List<Handled> handled() {
    return takes.values().stream().sorted(Comparator.comparingLong(of -> of.startedAt)).toList();
  }

  /** How many handlers have returned that began after a moment. */
  public long doneSince(long nanos) {
    return takes.values().stream().filter(of -> of.startedAt > nanos && of.isDone()).count();
  }

  /** When handlers of a node asked for what they took, in nanos. */
  public List<Long> askedBy(String node) {
    return takes.values().stream()
        .filter(of -> of.process.startsWith(node + ".") && of.askedAt > 0)
        .map(of -> of.askedAt)
        .toList();
  }
}
