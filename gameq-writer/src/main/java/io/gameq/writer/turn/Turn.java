package io.gameq.writer.turn;

import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.writer.turn.AfterFlush.Acknowledging;
import io.gameq.writer.turn.AfterFlush.AskingForLost;
import io.gameq.writer.turn.AfterFlush.AskingForOpening;
import io.gameq.writer.turn.AfterFlush.Fencing;
import io.gameq.writer.turn.AfterFlush.FinishingOpen;
import io.gameq.writer.turn.AfterFlush.Flushing;
import io.gameq.writer.turn.AfterFlush.Leaving;
import io.gameq.writer.turn.AfterFlush.Reasserting;
import io.gameq.writer.turn.AfterFlush.RereadingCatalog;
import io.gameq.writer.turn.AfterFlush.RereadingTable;
import io.gameq.writer.turn.AfterFlush.Restoring;
import io.gameq.writer.turn.AfterFlush.SettingAside;
import java.util.List;

/**
 * Where a writer stands in its turn with one slot: what it does next, and what it has in hand for
 * that. Immutable. {@link #next} does one thing on one server; the package page draws what follows
 * what. Killed anywhere, it loses nothing: what was claimed comes back when the lease runs out, and
 * flushing twice changes nothing.
 */
public sealed interface Turn
    permits Reaping,
        Claiming,
        Decoding,
        RereadingTable,
        RereadingCatalog,
        SettingAside,
        Flushing,
        Acknowledging,
        GivingBack,
        Leaving,
        AskingForLost,
        Restoring,
        AskingForOpening,
        AskingForUnowned,
        Reasserting,
        Fencing,
        Parking,
        FinishingOpen,
        Ended {
  /**
   * Does this step; returns where the turn stands then. A turn that ended stays as it is.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer: claims come back when
   *     their leases run out
   * @throws io.gameq.MySqlException when MySQL does not answer and nothing is claimed any more
   */
  Turn next(TurnPorts ports);

  /** Where the turn stands when all that this step leads to is done. */
  Turn then();

  /** Claims that are in hand, here and in what follows. */
  default List<Claim> claims() {
    return then().claims();
  }

  /** How the turn ends if nothing else comes in between. */
  default Ended end() {
    return then().end();
  }
}
