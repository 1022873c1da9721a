package io.gameq.lab.bench.plot;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One diagram of an SVG: log-log axes, a line for each figure, a legend below. One thread. */
final class Panel {
  static final int WIDTH = 480;

  private static final int LEFT = 70;
  private static final int RIGHT = 20;
  private static final int TOP = 60;
  private static final int BOTTOM = 330;
  private static final int LEGEND = 385;
  private static final int LEGEND_LINE = 18;

  /** Told apart by people who see few colours, too. */
  private static final String[] COLOURS = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"
  };

  private final int x;
  private final String unit;
  private final String xName;
  private final List<Line> lines = new ArrayList<>();

  /** A figure at the points where it is above zero. */
  record Line(String name, List<double[]> points) {}

  /** A diagram whose left edge is at {@code x}. */
  Panel(int x, String xName, String unit) {
    this.x = x;
    this.xName = xName;
    this.unit = unit;
  }

  void add(Line line) {
    lines.add(line);
  }

  boolean isEmpty() {
    return lines.isEmpty();
  }

  /** Where the legend ends. */
  int height() {
    return LEGEND + lines.size() * LEGEND_LINE;
  }

  void draw(StringBuilder svg) {
    LogScale across = LogScale.over(values(0), x + LEFT, x + WIDTH - RIGHT);
    LogScale up = LogScale.over(values(1), BOTTOM, TOP);
    for (double tick : across.ticks()) {
      double at = across.pixel(tick);
      rule(svg, at, TOP, at, BOTTOM);
      text(svg, at, BOTTOM + 18, "middle", number(tick));
    }
    for (double tick : up.ticks()) {
      double at = up.pixel(tick);
      rule(svg, x + LEFT, at, x + WIDTH - RIGHT, at);
      text(svg, x + LEFT - 6, at + 4, "end", number(tick));
    }
    text(svg, (x + LEFT + x + WIDTH - RIGHT) / 2.0, BOTTOM + 38, "middle", xName);
    text(svg, x + LEFT, TOP - 10, "middle", unit);
    for (int i = 0; i < lines.size(); i++) {
      draw(svg, lines.get(i), COLOURS[i % COLOURS.length], across, up);
      int y = LEGEND + i * LEGEND_LINE;
      svg.append(
          format(
              "<line x1='%d' y1='%d' x2='%d' y2='%d' stroke='%s' stroke-width='2'/>%n",
              x + LEFT, y - 4, x + LEFT + 24, y - 4, COLOURS[i % COLOURS.length]));
      text(svg, x + LEFT + 32, y, "start", lines.get(i).name());
    }
  }

  private List<Double> values(int coordinate) {
    return lines.stream()
        .flatMap(line -> line.points().stream())
        .map(point -> point[coordinate])
        .toList();
  }

  private static void draw(
      StringBuilder svg, Line line, String colour, LogScale across, LogScale up) {
    StringBuilder path = new StringBuilder();
    for (double[] point : line.points()) {
      path.append(format("%.1f,%.1f ", across.pixel(point[0]), up.pixel(point[1])));
    }
    svg.append(
        format(
            "<polyline points='%s' fill='none' stroke='%s' stroke-width='2'/>%n",
            path.toString().strip(), colour));
    for (double[] point : line.points()) {
      svg.append(
          format(
              "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'><title>%s at %s: %s</title></circle>%n",
              across.pixel(point[0]),
              up.pixel(point[1]),
              colour,
              escaped(line.name()),
              number(point[0]),
              number(point[1])));
    }
  }

  private static void rule(StringBuilder svg, double x1, double y1, double x2, double y2) {
    svg.append(
        format("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#ddd'/>%n", x1, y1, x2, y2));
  }

  static void text(StringBuilder svg, double x, double y, String anchor, String text) {
    svg.append(
        format(
            "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>%n", x, y, anchor, escaped(text)));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&apos;");
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  /** Whole numbers with commas; smaller ones with the digits that they need. */
  private static String number(double value) {
    return value >= 10 || value == Math.rint(value)
        ? format("%,.0f", value)
        : format("%.4f", value).replaceAll("0+$", "");
  }
}
