package io.gameq.wal;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What each file of a WAL begins with, so that it can be read without the others: its header and
 * the column lists. Not thread-safe.
 */
final class Preamble {
  private final List<WalCodec.Body> bodies = new ArrayList<>();
  private final Set<WalRecord.Layout> layouts = new HashSet<>();

  Preamble(WalRecord.Header header, List<WalRecord.Layout> layouts) {
    bodies.add(WalCodec.header(header));
    layouts.forEach(this::add);
  }

  void add(WalRecord.Layout layout) {
    bodies.add(WalCodec.layout(layout));
    layouts.add(layout);
  }

  boolean has(WalRecord.Layout layout) {
    return layouts.contains(layout);
  }

  List<WalCodec.Body> bodies() {
    return bodies;
  }
}
