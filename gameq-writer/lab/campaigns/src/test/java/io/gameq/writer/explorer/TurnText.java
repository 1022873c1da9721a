package io.gameq.writer.explorer;

import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.writer.flush.Stage;
import io.gameq.writer.flush.Stage.Acknowledge;
import io.gameq.writer.flush.Stage.ClaimDue;
import io.gameq.writer.flush.Stage.End;
import io.gameq.writer.flush.Stage.FindLostSessions;
import io.gameq.writer.flush.Stage.FindOpenings;
import io.gameq.writer.flush.Stage.FindUnowned;
import io.gameq.writer.flush.Stage.FinishOpen;
import io.gameq.writer.flush.Stage.Flush;
import io.gameq.writer.flush.Stage.GiveBack;
import io.gameq.writer.flush.Stage.Leave;
import io.gameq.writer.flush.Stage.ParkStale;
import io.gameq.writer.flush.Stage.ReassertSession;
import io.gameq.writer.flush.Stage.RestoreSession;
import java.util.List;
import java.util.Set;

/** Tells where a turn stands in words that are equal for turns which behave alike. Stateless. */
final class TurnText {
  private TurnText() {}

  /** All that is to come. */
  static String of(Stage turn) {
    StringBuilder text = new StringBuilder();
    for (Stage at = turn; !(at instanceof End); at = at.then()) {
      text.append(at.getClass().getSimpleName());
      step(at, text);
      text.append(' ');
    }
    return text.toString();
  }

  private static void step(Stage turn, StringBuilder text) {
    if (turn instanceof Flush of) {
      for (OwnerRows rows : of.asked()) {
        text.append(' ').append(rows.owner()).append(' ').append(rows.session());
        rows.rows().forEach(row -> text.append(' ').append(row.image()));
      }
    } else if (turn instanceof Acknowledge of) {
      for (ClaimScript.Flushed flushed : of.flushed(Set.of())) {
        text.append(' ').append(flushed.claim().owner()).append(' ').append(flushed.version());
        text.append(flushed.claim().session()).append(flushed.setAside()).append(flushed.kept());
      }
    } else if (turn instanceof GiveBack of) {
      claims(of.batch(), text);
    } else if (turn instanceof Leave of) {
      claims(of.batch(), text);
    } else if (turn instanceof FindLostSessions of) {
      claims(of.notOwned(), text);
    } else if (turn instanceof FindOpenings of) {
      text.append(of.owners());
    } else if (turn instanceof FindUnowned of) {
      text.append(of.unowned());
    } else if (turn instanceof ParkStale of) {
      text.append(of.rows());
    } else if (turn instanceof ReassertSession of) {
      text.append(of.owner()).append(of.durable());
    } else if (turn instanceof FinishOpen of) {
      text.append(of.owner()).append(of.session());
    } else if (turn instanceof RestoreSession of) {
      text.append(of.owner()).append(of.session());
    } else if (!(turn instanceof ClaimDue)) {
      throw new IllegalStateException("not explored: " + turn);
    }
  }

  private static void claims(List<Claim> claims, StringBuilder text) {
    claims.forEach(of -> text.append(' ').append(of.owner()).append(' ').append(of.session()));
  }

  /** Whether the step that is next calls Redis, not MySQL. */
  static boolean isOfRedis(Stage turn) {
    return turn instanceof GiveBack
        || turn instanceof Leave
        || turn instanceof ParkStale
        || turn instanceof ReassertSession
        || turn instanceof FinishOpen;
  }
}
