package io.gameq.example;

import java.time.Instant;

/** The rows of the game: a record names its table, its components name the columns. */
public final class Rows {
  private Rows() {}

  /** Of the owner {@code player:<id>}, as are items and mail. */
  public record Player(long playerId, String name, long gold) {
    Player plus(long more) {
      return new Player(playerId, name, gold + more);
    }

    Player named(String other) {
      return new Player(playerId, other, gold);
    }
  }

  /** What a player carries in one slot. */
  public record Item(long playerId, int slot, int itemId, int count) {}

  /** A letter to a player; others send it. */
  public record Mail(long playerId, long mailId, String sender, String text, Instant sentAt) {}

  /** Of the owner {@code name:<name>}: whose name it is, in lower case. */
  public record PlayerName(String name, long playerId) {}

  /** Of the owner {@code listing:<id>}: what somebody sells. */
  public record Listing(long listingId, long sellerId, int itemId, int count, long price) {}

  /** Of the owner {@code guild:<id>}, as are its members. */
  public record Guild(long guildId, String name, long treasury) {}

  /** A player of a guild, and what that player gave. */
  public record GuildMember(long guildId, long playerId, long given) {}
}
