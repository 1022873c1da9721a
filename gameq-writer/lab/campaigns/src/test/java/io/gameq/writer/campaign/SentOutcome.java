package io.gameq.writer.campaign;

import java.util.List;

/**
 * What became of the rows that were sent in one case; immutable.
 *
 * @param sent acknowledged rows
 * @param together of these, sent with other changes in one commit
 * @param told how often a session was told of a row
 * @param twice of these, of a row that this session had been told of before
 * @param untold rows that the session that has their owner neither loaded nor was told of
 * @param lost violations of these kinds that name a sent row
 * @param back violations that name one that was deleted, refused or reported as lost
 * @param halves commits of which one half is there, and the other one was reported as lost
 */
public record SentOutcome(
    long sent,
    long together,
    long told,
    long twice,
    List<String> untold,
    long lost,
    long back,
    long halves) {
  @Override
  public String toString() {
    return ("%d rows sent, %d of them with other changes, told %d times, %d again, %d untold at the"
            + " end, %d lost, %d brought back, %d halves of commits reported")
        .formatted(sent, together, told, twice, untold.size(), lost, back, halves);
  }
}
