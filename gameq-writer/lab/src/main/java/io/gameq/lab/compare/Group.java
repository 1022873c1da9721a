package io.gameq.lab.compare;

import java.util.Optional;

/** What is compared with each other, and with nothing else: how game threads act. */
enum Group {
  CLOSED_LOOP("closed loop"),
  ASYNCHRONOUS("asynchronous"),
  PACED("paced"),
  LIMITS("limits");

  private final String label;

  Group(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  /** The part of the figures that holds a contender's rounds. */
  String part(String contender) {
    return contender + ", " + label;
  }

  /** The contender whose rounds of this group a part of the figures holds. */
  Optional<String> contender(String part) {
    String end = part("");
    return part.endsWith(end)
        ? Optional.of(part.substring(0, part.length() - end.length()))
        : Optional.empty();
  }
}
