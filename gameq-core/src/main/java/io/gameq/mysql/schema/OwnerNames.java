package io.gameq.mysql.schema;

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

  private static final int MOST_OF_KIND = 32;

  private OwnerNames() {}

  /** {@code player} of {@code player_id}; null when the name does not end as a reference does. */
  static @Nullable String stem(String column) {
    Matcher referring = REFERRING.matcher(column);
    return referring.matches() ? plain(referring.group(1)) : null;
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
