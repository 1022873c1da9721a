package io.gameq.writer.turn;

import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.mysql.flush.FlushTransaction.OwnerRows;
import io.gameq.mysql.flush.FlushTransaction.Written;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.ClaimScript.Flushed;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.writer.pause.ResumedTables;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Claims that are decoded: leads from them to what MySQL is asked for, and from its answer back to
 * them. Immutable.
 */
public final class ClaimedRows {
  private final List<RowDecoder.Decoded> decoded;
  private final Map<OwnerId, RowDecoder.Decoded> byOwner = new HashMap<>();

  ClaimedRows(List<RowDecoder.Decoded> decoded) {
    this.decoded = decoded;
    decoded.forEach(of -> byOwner.put(of.claim().owner(), of));
  }

  /** The claims. */
  public List<Claim> claims() {
    return decoded.stream().map(RowDecoder.Decoded::claim).toList();
  }

  /** How many rows MySQL is asked to write. */
  int count() {
    return decoded.stream().mapToInt(of -> of.rows().size()).sum();
  }

  /** What MySQL is asked to write. */
  public List<OwnerRows> owners() {
    return decoded.stream()
        .map(
            of ->
                new OwnerRows(
                    of.claim().owner(),
                    of.claim().session(),
                    of.claim().attempts(),
                    of.claim().refusedForMillis(),
                    of.rows(),
                    of.unreadable()))
        .toList();
  }

  /**
   * The same while operators hold some rows back that these may refer to: refusals that such rows
   * can cure are not counted against them.
   */
  List<OwnerRows> ownersWithPatience() {
    return owners().stream()
        .map(
            of ->
                new OwnerRows(
                    of.owner(), of.session(), of.attempts(), 0, of.rows(), of.unreadable()))
        .toList();
  }

  Claim claim(OwnerRows of) {
    return decoded(of.owner()).claim();
  }

  private RowDecoder.Decoded decoded(OwnerId owner) {
    return Objects.requireNonNull(byOwner.get(owner));
  }

  /** Names of the tables that these owners' rows are of. */
  Set<String> tables(List<Written> written) {
    return written.stream()
        .flatMap(of -> of.of().rows().stream())
        .map(row -> row.key().table().name())
        .collect(Collectors.toSet());
  }

  /**
   * What to acknowledge of an owner.
   *
   * @param paused tables that operators paused, as it is known now
   */
  Flushed flushed(Written written, Set<String> paused) {
    RowDecoder.Decoded of = decoded(written.of().owner());
    List<VersionedKey> setAside =
        written.setAside().stream().map(row -> new VersionedKey(row.key(), row.version())).toList();
    List<VersionedKey> kept =
        Stream.concat(of.kept().stream(), of.paused().rows().stream())
            .map(row -> new VersionedKey(row.key(), RowDecoder.version(row)))
            .collect(Collectors.toCollection(ArrayList::new));
    boolean areAllPaused =
        of.kept().isEmpty() && written.kept().isEmpty() && paused.containsAll(of.paused().tables());
    written.kept().stream()
        .map(row -> new VersionedKey(row.key().text(), row.image().version()))
        .forEach(kept::add);
    long version = 0;
    for (RowChange row : of.rows()) {
      version = Math.max(version, row.image().version());
    }
    for (VersionedKey row : setAside) {
      version = Math.max(version, row.version());
    }
    for (VersionedKey row : kept) {
      version = Math.max(version, row.version());
    }
    return new Flushed(
        of.claim(),
        version,
        setAside,
        kept,
        areAllPaused ? ResumedTables.PAUSED_MILLIS : ParkedTables.RETRY_MILLIS);
  }
}
