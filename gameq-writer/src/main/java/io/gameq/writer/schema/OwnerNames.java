package io.gameq.writer.schema;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What names of tables and columns tell of owners. Stateless. */
final class OwnerNames {
  /** {@code player_id}, {@code playerId}, {@code char_guid}, {@code guildid}. */
  private static final Pattern REFERRING =
      Pattern.compile("(.+?)_?(?:id|guid|uid|uuid)", Pattern.CASE_INSENSITIVE);

  /** Who plays: owners also where they refer to others themselves, as a player to a town. */
  private static final Set<String> PLAYERS =
      Set.of("account", "avatar", "char", "character", "hero", "player", "user");

  /** What players found and join: its rows are theirs, though no column may say so. */
  private static final Set<String> GROUPS =
      Set.of(
          "alliance",
          "clan",
          "club",
          "company",
          "corporation",
          "crew",
          "faction",
          "gang",
          "guild",
          "kingdom",
          "league",
          "party",
          "squad",
          "team",
          "tribe");

  /** Of fewer tables, a common beginning may be what they are about: guild_member, guild_rank. */
  private static final int FEWEST_WITH_PREFIX = 3;

  private static final int MOST_OF_KIND = 32;

  private OwnerNames() {}

  /** {@code player} of {@code player_id}; null when the name does not end as a reference does. */
  static @Nullable String stem(String column) {
    Matcher referring = REFERRING.matcher(column);
    return referring.matches() ? plain(referring.group(1)) : null;
  }

  /** Whether a column is named {@code owner}, or {@code ownerid}. */
  static boolean isOwner(String column) {
    return is(column, "owner");
  }

  /** Whether a column is about a person, by key or by name: an owner or a {@code leader}. */
  static boolean isSomebody(String column) {
    return isOwner(column) || is(column, "leader");
  }

  private static boolean is(String column, String word) {
    return column.equalsIgnoreCase(word) || word.equals(stem(column));
  }

  /** Whether rows of this name, in the singular, are groups of players. */
  static boolean isGroup(String one) {
    return GROUPS.contains(one);
  }

  /** Whether each table may have a key of this name, so that it tells nothing of another table. */
  static boolean isOfEachTable(String key) {
    return key.equalsIgnoreCase("id") || key.equalsIgnoreCase("name");
  }

  /** What all of several tables begin with, up to an underscore: {@code mygame_}; or nothing. */
  static String prefix(List<String> tables) {
    if (tables.size() < FEWEST_WITH_PREFIX) {
      return "";
    }
    String common = tables.get(0);
    for (String table : tables) {
      while (!table.startsWith(common)) {
        common = common.substring(0, common.length() - 1);
      }
    }
    return common.substring(0, common.lastIndexOf('_') + 1);
  }

  /** One of what a table is named after: {@code guild_war} of {@code guild_wars}. */
  static String singular(String table) {
    String name = plain(table);
    if (name.endsWith("ies")) {
      return name.substring(0, name.length() - 3) + "y";
    }
    if (name.matches(".*(sses|xes|ches|shes|oes)")) {
      return name.substring(0, name.length() - 2);
    }
    return name.endsWith("s") && !name.matches(".*(ss|us|is)")
        ? name.substring(0, name.length() - 1)
        : name;
  }

  /** Whether a table is named as one of those who play. */
  static boolean arePlayers(String table) {
    return PLAYERS.contains(singular(table));
  }

  /** Whether a table is named after one of these, as {@code player_items} after player. */
  static boolean isNamedAfter(String table, String one) {
    String name = plain(table);
    return name.startsWith(one) && !name.equals(one);
  }

  /** In small letters with underscores: {@code playerItems} as {@code player_items}. */
  static String plain(String name) {
    return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
  }

  /** A kind of owners, as their ids may have it. */
  static String kind(String name) {
    String kind = name.replaceAll("[^a-z0-9_]", "_").replaceAll("^[^a-z]+", "");
    return kind.isEmpty() ? "owner" : kind.substring(0, Math.min(MOST_OF_KIND, kind.length()));
  }
}
