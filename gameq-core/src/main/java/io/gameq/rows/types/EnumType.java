package io.gameq.rows.types;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** ENUM, canonical as String: exactly one of the members; immutable. */
record EnumType(Set<String> members) implements StringType {
  EnumType(List<String> members) {
    this(new LinkedHashSet<>(members));
  }

  @Override
  public Kind kind() {
    return Kind.ENUM;
  }

  @Override
  public Object canonical(Object in, String column) {
    String text = StringType.text(in, column);
    if (!members.contains(text)) {
      throw Refusal.of(
          column,
          "text of %s characters is none of the %s members, letter case included"
              .formatted(text.length(), members.size()));
    }
    return text;
  }

  @Override
  public int maxKeyBytes() {
    return members.stream().mapToInt(m -> 12 * m.length()).max().orElse(0);
  }
}
