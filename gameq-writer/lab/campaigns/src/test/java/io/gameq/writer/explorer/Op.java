package io.gameq.writer.explorer;

import java.util.ArrayList;
import java.util.List;

/** What the game on a node does next. Owners are player numbers, rows are item ids. */
sealed interface Op {
  /**
   * The node comes up: it connects. Only where there are terms.
   *
   * @param formerToo whether it may reach the former of two primaries, by an address of before
   */
  record Start(boolean formerToo) implements Op {}

  /** Logs a player in. */
  record Open(int player) implements Op {}

  /**
   * Commits changes, of one or of two owners.
   *
   * @param mayBeLost whether the request, or the reply, may be lost on its way
   * @param ofKnown whether it is left out where the node does not know its rows
   */
  record Commit(List<Part> parts, boolean mayBeLost, boolean ofKnown) implements Op {
    Commit(List<Part> parts, boolean mayBeLost) {
      this(parts, mayBeLost, false);
    }

    List<Part> sent() {
      return parts.stream().filter(part -> part.kind == MadeChange.Kind.SENT).toList();
    }
  }

  /** A change of one row; {@code toPlayer} is the player whose row it is afterwards. */
  record Part(int player, int row, MadeChange.Kind kind, int toPlayer) {
    /** Where the node keeps its session: that of an inbox as of the negative of its player. */
    int hold() {
      return kind == MadeChange.Kind.SENT ? -player : player;
    }
  }

  /** The node's session of a player is told of rows that were sent to it. */
  record Hear(int player) implements Op {}

  static Op hear(int player) {
    return new Hear(player);
  }

  /** A row for a player, whoever has it. */
  static Op send(int player, int row) {
    return new Commit(List.of(new Part(player, row, MadeChange.Kind.SENT, player)), false);
  }

  /** Two commits as one. */
  static Op together(Op one, Op other) {
    List<Part> parts = new ArrayList<>(((Commit) one).parts);
    parts.addAll(((Commit) other).parts);
    return new Commit(List.copyOf(parts), false);
  }

  /** The same commit, where the node knows its rows: it has loaded them, or was told of them. */
  static Op ofKnown(Op op) {
    return new Commit(((Commit) op).parts, ((Commit) op).mayBeLost, true);
  }

  /** The node, not the game: looks for what of a player's session is lost, and may report it. */
  record Look(int player) implements Op {}

  static Op look(int player) {
    return new Look(player);
  }

  static Op start() {
    return new Start(false);
  }

  static Op startAnywhere() {
    return new Start(true);
  }

  static Op open(int player) {
    return new Open(player);
  }

  static Op put(int player, int... rows) {
    return new Commit(
        java.util.Arrays.stream(rows)
            .mapToObj(row -> new Part(player, row, MadeChange.Kind.PUT, player))
            .toList(),
        false);
  }

  static Op delete(int player, int row) {
    return new Commit(List.of(new Part(player, row, MadeChange.Kind.DELETE, player)), false);
  }

  static Op move(int from, int to, int row) {
    return new Commit(
        List.of(
            new Part(from, row, MadeChange.Kind.MOVED, to),
            new Part(to, row, MadeChange.Kind.PUT, to)),
        false);
  }

  /** The same commit, whose request or reply may be lost. */
  static Op lossy(Op op) {
    return new Commit(((Commit) op).parts, true, ((Commit) op).ofKnown);
  }
}
