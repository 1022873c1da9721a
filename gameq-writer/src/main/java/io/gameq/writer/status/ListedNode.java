package io.gameq.writer.status;

import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.script.ProcessSigns.ProcessSign;
import io.gameq.sign.NodeSign;
import io.gameq.sign.SignFields;
import io.gameq.terminal.Shown;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A node, by what it said last and by its heartbeat. Immutable.
 *
 * @param id of this start of it, 8 hex digits
 * @param silentMillis how long ago it said so
 * @param aheadMillis by how much its host's clock was ahead of Redis' then; negative when behind
 */
public record ListedNode(
    String id, long silentMillis, long aheadMillis, State state, NodeSign sign) {
  /** A change that waits longer is not on its usual way. */
  private static final long LONG_MILLIS = 60_000;

  /** Beyond, its WAL may be full before anybody looks. */
  private static final double NEARLY_FULL = 0.8;

  /** How a node is. */
  public enum State {
    RUNNING("running"),
    /** Redis may not know its sessions, nor all that they committed. */
    NOT_HEALED("not healed"),
    /** It takes no commits any more. */
    FAILED("failed"),
    /** It was closed before all was known to be in MySQL. */
    CLOSED("closed, WAL kept"),
    /** Its heartbeat ended without a close. */
    GONE("gone"),
    /** MySQL says that it was started and not closed; Redis knows nothing of it. */
    UNKNOWN("not known to Redis");

    private final String text;

    State(String text) {
      this.text = text;
    }

    /** As operators read it. */
    public String text() {
      return text;
    }

    /** As it stands in tags of meters and in JSON. */
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static ListedNode of(ProcessSign said) {
    NodeSign sign = SignFields.read(NodeSign.class, said.fields());
    return new ListedNode(
        said.id(), said.silentMillis(), said.aheadMillis(), state(said, sign), sign);
  }

  /** One that Redis knows nothing of, which is emptied, or has not been told yet. */
  static ListedNode unknown(NodeTable.Started of) {
    return new ListedNode(
        of.process(),
        of.startedMillisAgo(),
        0,
        State.UNKNOWN,
        new NodeSign(
            of.identity(),
            "",
            false,
            new NodeSign.Sessions(0, 0),
            new NodeSign.Commits(0, 0, 0, 0, 0),
            new NodeSign.Wal(of.walDirectory(), 0, 0, 0, 0),
            new NodeSign.Healings(0, 0, 0, 0)));
  }

  private static State state(ProcessSign said, NodeSign sign) {
    if (sign.phase().equals(NodeSign.CLOSED)) {
      return State.CLOSED;
    }
    if (sign.phase().equals(NodeSign.FAILED) && said.isFresh()) { // it has no heartbeat any more
      return State.FAILED;
    }
    return switch (said.beat()) {
      case NONE -> State.GONE;
      case UNHEALED -> State.NOT_HEALED;
      case HEALED -> State.RUNNING;
    };
  }

  /** Whether its process is there, as far as is known. */
  public boolean isThere() {
    return state == State.RUNNING || state == State.NOT_HEALED || state == State.FAILED;
  }

  /** What is to be done about it, each in one line; empty when all is well. */
  public List<String> toDo() {
    List<String> all = new ArrayList<>();
    String ofState = ofState();
    if (ofState != null) {
      all.add(ofState);
    }
    if (isThere()) {
      ofRunning(all);
    }
    return all;
  }

  private @Nullable String ofState() {
    String wal = Shown.text(sign.wal().walDirectory());
    return switch (state) {
      case RUNNING -> null;
      case NOT_HEALED ->
          "%s has not put back what this Redis may lack: does it reach MySQL?".formatted(who());
      case FAILED -> "%s takes no commits any more: its log says why, restart it".formatted(who());
      case CLOSED ->
          ("%s was closed before all was known to be in MySQL: start it again beside its WAL %s,"
                  + " or see 'gameq-recovery plan'")
              .formatted(who(), wal);
      case GONE ->
          ("%s has been gone for %s and was not closed: start it again beside its WAL %s, or see"
                  + " 'gameq-recovery plan'")
              .formatted(who(), Shown.duration(silentMillis), wal);
      case UNKNOWN ->
          ("Redis knows nothing of %s, which was started %s ago and not closed: unless it runs,"
                  + " start it again beside its WAL %s, or see 'gameq-recovery plan'")
              .formatted(who(), Shown.duration(silentMillis), wal);
    };
  }

  private void ofRunning(List<String> all) {
    NodeSign.Wal wal = sign.wal();
    if (silentMillis > LONG_MILLIS) {
      all.add(
          "%s is alive, and has said nothing else for %s: does it wait for MySQL?"
              .formatted(who(), Shown.duration(silentMillis)));
    }
    if (wal.oldestMillis() > LONG_MILLIS) {
      all.add(
          ("the oldest change of %s has waited for %s, and its WAL grows: do writers reach"
                  + " MySQL?")
              .formatted(who(), Shown.duration(wal.oldestMillis())));
    }
    if (wal.walMaxBytes() > 0 && wal.walBytes() > NEARLY_FULL * wal.walMaxBytes()) {
      all.add(
          String.format(
              Locale.ROOT,
              "the WAL of %s takes %.0f %% of walMaxBytes: at 100 %% it refuses commits",
              who(),
              100.0 * wal.walBytes() / wal.walMaxBytes()));
    }
    Processes.clock(who(), aheadMillis, all);
    if (!sign.mysql()) {
      all.add("%s does not reach MySQL: nobody can log in there".formatted(who()));
    }
  }

  private String who() {
    return "node %s (%s on %s)"
        .formatted(Shown.text(sign.process().name()), id, Shown.text(sign.process().host()));
  }
}
