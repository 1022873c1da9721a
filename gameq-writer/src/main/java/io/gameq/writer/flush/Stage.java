package io.gameq.writer.flush;

import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushPlan.Written;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.rows.Table;
import io.gameq.writer.flush.RowDecoder.DecodedClaim;
import io.gameq.writer.flush.SlotSchedule.SlotShare;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Where a {@link SlotTurn} stands: what it does next on one server, with all that it has in hand.
 * What comes after it is part of it, so that a turn is one value. Immutable.
 */
public sealed interface Stage {
  /** Of a batch in one turn: each may have waited for a lock. */
  int MOST_TRIES = 3;

  /** Rows given back for an outage merge with what comes; the gate says when to claim again. */
  long OUTAGE_DELAY_MILLIS = 1_000;

  /** The slow lane is full: it empties in a moment or is locked, as its suspects are. */
  long FULL_DELAY_MILLIS = 500;

  /** Where it stands when all that this step leads to is done. */
  default Stage then() {
    return new End();
  }

  /** Claims of this step. */
  default List<Claim> batch() {
    return List.of();
  }

  /** Claims that are in hand, here and in what follows. */
  default List<Claim> claims() {
    return Stream.concat(batch().stream(), then().claims().stream()).toList();
  }

  /** Redis: takes back what writers that are gone had claimed of a slot. */
  record Reap(int slot) implements Stage {}

  /**
   * Redis: claims what is due in some slots, to be flushed together.
   *
   * @param isUrgent whether only those are claimed who are due before their time
   */
  record ClaimDue(List<SlotShare> shares, boolean isUrgent) implements Stage {}

  /**
   * Decodes claims; asks MySQL for the catalogue where the one at hand does not fit.
   *
   * @param triesLeft of flushing them in this turn, this one included
   */
  record Decode(List<Claim> batch, FlushKind kind, int triesLeft, Stage then) implements Stage {
    /** To be flushed in one transaction. */
    static Decode together(List<Claim> batch, Stage then) {
      return new Decode(batch, FlushKind.TOGETHER, MOST_TRIES, then);
    }

    /** To be flushed apart from others. */
    static Decode apart(Claim claim, Stage then) {
      return new Decode(List.of(claim), FlushKind.APART, MOST_TRIES, then);
    }
  }

  /** MySQL: the transaction, one call. */
  record Flush(Map<OwnerId, DecodedClaim> rows, FlushKind kind, int triesLeft, Stage then)
      implements Stage {
    @Override
    public List<Claim> batch() {
      return rows.values().stream().map(DecodedClaim::claim).toList();
    }

    /** What MySQL is asked to write. */
    public List<OwnerRows> asked() {
      return rows.values().stream().map(DecodedClaim::asked).toList();
    }

    Claim claim(OwnerRows of) {
      return Objects.requireNonNull(rows.get(of.owner())).claim();
    }
  }

  /** With whom claims are flushed, and what for. */
  enum FlushKind {
    /** Many owners: one that holds up the others is looked for apart. */
    TOGETHER,
    /** One owner who may hold up others: rows that take MySQL long are searched for. */
    APART,
    /** One owner whose rows nobody can flush: all become dead letters, none is decoded. */
    SETTING_ASIDE
  }

  /** Redis: acknowledges what a flush has written. */
  record Acknowledge(Map<OwnerId, DecodedClaim> rows, List<Written> written, Stage then)
      implements Stage {
    @Override
    public List<Claim> batch() {
      return written.stream().map(of -> decoded(of).claim()).toList();
    }

    /**
     * What ack.lua is told.
     *
     * @param paused tables that operators paused
     */
    public List<ClaimScript.Flushed> flushed(Set<String> paused) {
      return written.stream().map(of -> decoded(of).flushed(of, paused)).toList();
    }

    private DecodedClaim decoded(Written of) {
      return Objects.requireNonNull(rows.get(of.of().owner()), "rows that were flushed");
    }
  }

  /**
   * Redis: gives claims back unflushed.
   *
   * @param delayMillis until their owners are due again
   * @param countsAsAttempt false for what is not the rows' fault
   */
  record GiveBack(List<Claim> batch, long delayMillis, boolean countsAsAttempt, Stage then)
      implements Stage {
    /** They were tried in vain often enough for one turn, or are not this primary's any more. */
    static GiveBack forNextTurn(List<Claim> batch, Stage then) {
      return new GiveBack(batch, OUTAGE_DELAY_MILLIS, false, then);
    }

    /** The slow lane is full. */
    static GiveBack forWantOfRoom(List<Claim> batch, Stage then) {
      return new GiveBack(batch, FULL_DELAY_MILLIS, false, then);
    }
  }

  /**
   * Redis: gives claims back to a primary that was demoted, and ends the connection. What it holds
   * is not flushed; the nodes put it back on the new one, which the next turn connects to.
   */
  record Leave(List<Claim> batch, Stage then) implements Stage {}

  /**
   * MySQL: was the table altered since rows were decoded by it? If not, it is parked.
   *
   * @param then the next try
   */
  record RereadTable(Table table, String reason, Stage then) implements Stage {}

  /** MySQL: reads the catalogue again, since an owner failed alone: did a column come or go? */
  record RereadCatalog(Claim claim, String reason, Stage then) implements Stage {
    @Override
    public List<Claim> batch() {
      return List.of(claim);
    }
  }

  /** MySQL: which rows of a claim that nobody can flush does it lack? Dead letters to be. */
  record GiveUp(Claim claim, String reason, Stage then) implements Stage {
    @Override
    public List<Claim> batch() {
      return List.of(claim);
    }
  }

  /**
   * MySQL: sessions of owners that were refused. It may have lost the newest with its newest
   * commits.
   */
  record FindLostSessions(List<Claim> notOwned, Stage then) implements Stage {}

  /** MySQL: writes a session again that it lost. */
  record RestoreSession(OwnerId owner, SessionId session, Stage then) implements Stage {}

  /**
   * MySQL: which of the owners that were refused have had their session for so long that Redis
   * should know it? Its node died in mid-open, or a failover lost that and nobody healed it in a
   * lease's time. Their rows must not wait for the next login.
   */
  record FindOpenings(List<OwnerId> owners, Stage then) implements Stage {}

  /** MySQL: whose rows are these? Redis lost the session of their owner. */
  record FindUnowned(SlotKeys.DirtyOf unowned, Stage then) implements Stage {}

  /**
   * Redis: makes the last session that was open own again where Redis forgot it. What an older one
   * committed since is parked: this one never saw it and must not adopt it now.
   *
   * @param durable by MySQL; has a session that was open
   */
  record ReassertSession(OwnerId owner, CountingSessions durable, Stage then) implements Stage {}

  /** Redis: finishes an open whose node is gone. Its session adopts. */
  record FinishOpen(OwnerId owner, SessionId session, Stage then) implements Stage {}

  /**
   * Redis: the session that MySQL ended owns no more. What it committed is parked, and its node is
   * told. Without this step, as when the writer dies, each flush of the owner is refused until
   * {@link FindOpenings} takes it.
   *
   * @param by the session that counts now, which nobody has
   */
  record FenceSession(OwnerId owner, SessionId by, Stage then) implements Stage {}

  /**
   * Both: parks rows of a session that lost its owner, which nobody flushes any more. Messages that
   * were handled with them were handled in vain. Those of which no other handler's rows count are
   * given back before, so that a writer that dies here leaves another one to do it again.
   */
  record ParkStale(SlotKeys.DirtyOf rows, Stage then) implements Stage {}

  /** The turn is over. */
  record End() implements Stage {
    @Override
    public List<Claim> claims() {
      return List.of();
    }
  }
}
