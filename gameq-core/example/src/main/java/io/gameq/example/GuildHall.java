package io.gameq.example;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import java.util.List;

/** Guilds: owners like players, which the players of all nodes change. */
final class GuildHall {
  private final GameQueue queue;
  private final SharedOwners owners;

  GuildHall(GameQueue queue) {
    this.queue = queue;
    this.owners = new SharedOwners(queue);
  }

  /** Gives gold to a guild, and joins it; who gives first founds it. */
  void give(OnlinePlayer from, long guildId, String name, long gold) {
    owners.change(
        "guild:" + guildId,
        (guild, changes) -> {
          changes.put(new Rows.Guild(guildId, name, treasury(guild) + gold));
          changes.put(member(guild, guildId, from.row().playerId(), gold));
        },
        from,
        from.row().plus(-gold));
  }

  private static long treasury(OwnerSession guild) {
    return guild.rows(Rows.Guild.class).stream().mapToLong(Rows.Guild::treasury).sum();
  }

  private static Rows.GuildMember member(OwnerSession guild, long guildId, long player, long more) {
    long before =
        guild.rows(Rows.GuildMember.class).stream()
            .filter(member -> member.playerId() == player)
            .mapToLong(Rows.GuildMember::given)
            .sum();
    return new Rows.GuildMember(guildId, player, before + more);
  }

  /** The members of a guild, without taking it from anybody. */
  List<Rows.GuildMember> members(long guildId) {
    return queue.read("guild:" + guildId, Rows.GuildMember.class);
  }
}
