package io.gameq.writer.explorer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One state of the servers and of everyone's memory; immutable. */
record State(RedisImage redis, TableImage tables, List<Local> locals) {
  /** Equal for states that behave alike. */
  String key() {
    // Else a WAL follows from the node's changes, but for what it adopted, which it never sends.
    boolean mayFailOver = mayFailOver();
    Map<String, String> tokenNames = new HashMap<>();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < locals.size(); i++) {
      if (locals.get(i) instanceof FlushWorker.Memory worker) {
        String name = "token of " + i;
        worker.claims().forEach(claim -> tokenNames.put(claim.token(), name));
      }
      text.append(
              locals.get(i) instanceof NodeMemory node && !mayFailOver
                  ? node.wal(NodeWal.EMPTY).text() + node.wal().adoptedHandovers()
                  : locals.get(i).text())
          .append('\n');
    }
    all(FailoverActor.Memory.class)
        .map(FailoverActor.Memory::replica)
        .forEach(
            replica -> text.append(replica == null ? "" : "behind " + replica.text(tokenNames)));
    if (isAnybodyOnFormer()) {
      text.append("former ").append(Objects.requireNonNull(former()).text(tokenNames));
    }
    return digest(text.append(tables).append('\n').append(redis.text(tokenNames)).toString());
  }

  /** Stands for a text in a set of very many. */
  static String digest(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
      return new String(digest, ISO_8859_1);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  State with(int actor, Local local) {
    List<Local> changed = new ArrayList<>(locals);
    changed.set(actor, local);
    return new State(redis, tables, List.copyOf(changed));
  }

  <T extends Local> Stream<T> all(Class<T> kind) {
    return locals.stream().filter(kind::isInstance).map(kind::cast);
  }

  /** Every change that any node committed or tried to. */
  Stream<MadeChange> changes() {
    return all(NodeMemory.class).flatMap(node -> node.changes().stream());
  }

  /** How often every connection of a node to Redis broke, or another primary took over. */
  int outages() {
    return all(FailoverActor.Memory.class).mapToInt(FailoverActor.Memory::outages).sum()
        + (former() == null ? 0 : 1);
  }

  /** Whether Redis may lose anything in this cast. */
  boolean mayFailOver() {
    return all(FailoverActor.Memory.class).findAny().isPresent() || hasTerms();
  }

  /** Whether there may be two primaries in this cast, so that everybody settles the term. */
  boolean hasTerms() {
    return all(Promotion.Memory.class).findAny().isPresent();
  }

  /** What the former of two primaries holds; null while there is one. */
  @Nullable RedisImage former() {
    for (Local local : locals) {
      if (local instanceof Promotion.Memory promotion) {
        return promotion.former();
      }
    }
    return null;
  }

  private boolean isAnybodyOnFormer() {
    return Stream.concat(
            all(NodeMemory.class).filter(node -> !node.dead()).flatMap(NodeMemory::reached),
            all(FlushWorker.Memory.class).map(FlushWorker.Memory::reached))
        .anyMatch(reached -> reached.isFormer(this));
  }
}
