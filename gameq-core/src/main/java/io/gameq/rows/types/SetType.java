package io.gameq.rows.types;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * SET, canonical as String: members comma-separated in the order of their definition; immutable.
 */
record SetType(List<String> members) implements StringType {
  @Override
  public Kind kind() {
    return Kind.SET;
  }

  @Override
  public Object canonical(Object in, String column) {
    Collection<?> given;
    if (in instanceof Collection<?> collection) {
      given = collection;
    } else if (in instanceof String text) {
      given = text.isEmpty() ? List.of() : Arrays.asList(text.split(",", -1));
    } else {
      throw Refusal.kind(column, in, "String and collections of String or enum constants");
    }
    long chosen = 0;
    for (Object element : given) {
      String member =
          element instanceof Enum<?> constant ? constant.name() : (String) text(element, column);
      int index = members.indexOf(member);
      if (index < 0) {
        throw Refusal.of(
            column,
            "a text of %s characters is none of the %s members, letter case included"
                .formatted(member.length(), members.size()));
      }
      chosen |= 1L << index;
    }
    return joined(chosen);
  }

  private static Object text(Object element, String column) {
    if (element instanceof String) {
      return element;
    }
    throw Refusal.of(column, "takes a collection of String or enum constants only");
  }

  private String joined(long chosen) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < members.size(); i++) {
      if ((chosen & 1L << i) != 0) {
        out.append(out.isEmpty() ? "" : ",").append(members.get(i));
      }
    }
    return out.toString();
  }

  @Override
  public int maxKeyBytes() {
    return members.stream().mapToInt(m -> 12 * m.length() + 3).sum();
  }
}
