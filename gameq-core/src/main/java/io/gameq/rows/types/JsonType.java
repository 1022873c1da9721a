package io.gameq.rows.types;

import org.jspecify.annotations.Nullable;

/** MySQL's JSON, canonical as the text that MySQL prints; immutable. */
record JsonType() implements StringType {
  @Override
  public Kind kind() {
    return Kind.JSON;
  }

  @Override
  public Object canonical(Object in, String column) {
    if (!(in instanceof String text)) {
      throw Refusal.kind(column, in, "String");
    }
    return JsonText.canonical(text, column);
  }

  @Override
  public @Nullable String keyProblem() {
    return "a JSON key column";
  }
}
