package io.gameq.lab.bench.plot;

import java.util.ArrayList;
import java.util.List;

/** A logarithmic axis over whole decades; immutable. */
record LogScale(int lowDecade, int highDecade, double from, double to) {
  /** The decades that hold all values, which are above zero; from and to are pixels. */
  static LogScale over(List<Double> values, double from, double to) {
    double low = values.stream().mapToDouble(Math::log10).min().orElse(0);
    double high = values.stream().mapToDouble(Math::log10).max().orElse(1);
    int lowDecade = (int) Math.floor(low);
    return new LogScale(lowDecade, Math.max((int) Math.ceil(high), lowDecade + 1), from, to);
  }

  double pixel(double value) {
    double share = (Math.log10(value) - lowDecade) / (highDecade - lowDecade);
    return from + share * (to - from);
  }

  /** The powers of ten of the axis. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    for (int decade = lowDecade; decade <= highDecade; decade++) {
      ticks.add(Math.pow(10, decade));
    }
    return ticks;
  }
}
