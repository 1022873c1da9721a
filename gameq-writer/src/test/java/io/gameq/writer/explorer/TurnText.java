package io.gameq.writer.explorer;

import io.gameq.mysql.flush.FlushTransaction.OwnerRows;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.writer.turn.AfterFlush.Acknowledging;
import io.gameq.writer.turn.AfterFlush.AskingForLost;
import io.gameq.writer.turn.AfterFlush.AskingForOpening;
import io.gameq.writer.turn.AfterFlush.FinishingOpen;
import io.gameq.writer.turn.AfterFlush.Flushing;
import io.gameq.writer.turn.AfterFlush.Leaving;
import io.gameq.writer.turn.AfterFlush.Reasserting;
import io.gameq.writer.turn.AfterFlush.Restoring;
import io.gameq.writer.turn.AskingForUnowned;
import io.gameq.writer.turn.Claiming;
import io.gameq.writer.turn.Ended;
import io.gameq.writer.turn.GivingBack;
import io.gameq.writer.turn.Parking;
import io.gameq.writer.turn.Turn;
import java.util.List;

/** Tells where a turn stands in words that are equal for turns which behave alike. Stateless. */
final class TurnText {
  private TurnText() {}

  /** All that is to come. */
  static String of(Turn turn) {
    StringBuilder text = new StringBuilder();
    for (Turn at = turn; !(at instanceof Ended); at = at.then()) {
      text.append(at.getClass().getSimpleName());
      step(at, text);
      text.append(' ');
    }
    return text.toString();
  }

  private static void step(Turn turn, StringBuilder text) {
    if (turn instanceof Flushing of) {
      for (OwnerRows rows : of.rows().owners()) {
        text.append(' ').append(rows.owner()).append(' ').append(rows.session());
        rows.rows().forEach(row -> text.append(' ').append(row.image()));
      }
    } else if (turn instanceof Acknowledging of) {
      for (ClaimScript.Flushed flushed : of.flushed()) {
        text.append(' ').append(flushed.claim().owner()).append(' ').append(flushed.version());
        text.append(flushed.claim().session()).append(flushed.setAside()).append(flushed.kept());
      }
    } else if (turn instanceof GivingBack of) {
      claims(of.batch(), text);
    } else if (turn instanceof Leaving of) {
      claims(of.batch(), text);
    } else if (turn instanceof AskingForLost of) {
      claims(of.notOwned(), text);
    } else if (turn instanceof AskingForOpening of) {
      text.append(of.owners());
    } else if (turn instanceof AskingForUnowned of) {
      text.append(of.unowned());
    } else if (turn instanceof Parking of) {
      text.append(of.rows());
    } else if (turn instanceof Reasserting of) {
      text.append(of.owner()).append(of.durable());
    } else if (turn instanceof FinishingOpen of) {
      text.append(of.owner()).append(of.session());
    } else if (turn instanceof Restoring of) {
      text.append(of.owner()).append(of.session());
    } else if (!(turn instanceof Claiming)) {
      throw new IllegalStateException("not explored: " + turn);
    }
  }

  private static void claims(List<Claim> claims, StringBuilder text) {
    claims.forEach(of -> text.append(' ').append(of.owner()).append(' ').append(of.session()));
  }

  /** Whether the step that is next calls Redis, not MySQL. */
  static boolean isOfRedis(Turn turn) {
    return turn instanceof GivingBack
        || turn instanceof Leaving
        || turn instanceof Parking
        || turn instanceof Reasserting
        || turn instanceof FinishingOpen;
  }
}
