package io.gameq.lab.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gameq.terminal.TextTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Collects rounds and kills; prints medians, writes everything. One thread. */
final class ComparisonReport {
  private final PrintWriter out;
  private final List<Comparison.Round> rounds = new ArrayList<>();
  private final List<Comparison.Kill> kills = new ArrayList<>();

  ComparisonReport(PrintWriter out) {
    this.out = out;
  }

  void add(Comparison.Round round) {
    rounds.add(round);
  }

  void add(Comparison.Kill kill) {
    kills.add(kill);
  }

  /** Whether this contender lost and tore nothing, in rounds and kills. */
  boolean isFlawless(Contenders contender) {
    return rounds.stream()
            .filter(round -> round.contender().equals(contender.text()))
            .allMatch(round -> round.check().isFlawless())
        && kills.stream()
            .filter(kill -> kill.contender().equals(contender.text()))
            .allMatch(kill -> kill.check().isFlawless());
  }

  /** Medians of the rounds, and what the kills cost. */
  void print() {
    if (!rounds.isEmpty()) {
      out.println();
      printRounds();
    }
    if (!kills.isEmpty()) {
      out.println();
      printKills();
    }
  }

  private void printRounds() {
    Map<String, List<Comparison.Round>> groups = new LinkedHashMap<>();
    for (Comparison.Round round : rounds) {
      String load = round.inFlight() == 1 ? "closed loop" : "pressure " + round.inFlight();
      groups.computeIfAbsent(round.contender() + "," + load, of -> new ArrayList<>()).add(round);
    }
    List<List<String>> lines = new ArrayList<>();
    groups.forEach(
        (name, group) ->
            lines.add(
                List.of(
                    name.substring(0, name.indexOf(',')),
                    name.substring(name.indexOf(',') + 1),
                    spread(group, of -> of.measured().acceptedPerSecond()),
                    median(group, of -> of.measured().latency().p50()),
                    median(group, of -> of.measured().latency().p99()),
                    median(group, of -> of.measured().latency().p999()),
                    median(group, of -> of.measured().call().p99()),
                    spread(group, of -> of.measured().endToEndPerSecond()),
                    median(group, of -> of.measured().rowsWritten()),
                    median(group, of -> of.check().lostChanges()),
                    median(group, of -> of.check().tornActions()))));
    new TextTable(
            out,
            "CONTENDER",
            "LOAD",
            "ACCEPTED changes/s (min-max)",
            "ACTION p50 us",
            "p99 us",
            "p99.9 us",
            "CALL p99 us",
            "END TO END changes/s (min-max)",
            "ROWS WRITTEN",
            "LOST",
            "TORN")
        .print(lines);
    out.printf(
        "medians of %d rounds; %,d changes of %,d distinct rows in each%n",
        rounds.stream().mapToInt(Comparison.Round::round).max().orElse(0),
        rounds.get(0).measured().changes(),
        rounds.get(0).measured().distinctRows());
  }

  private void printKills() {
    Map<String, List<Comparison.Kill>> groups = new LinkedHashMap<>();
    kills.forEach(
        kill -> groups.computeIfAbsent(kill.contender(), of -> new ArrayList<>()).add(kill));
    List<List<String>> lines = new ArrayList<>();
    groups.forEach(
        (name, group) ->
            lines.add(
                List.of(
                    name,
                    Integer.toString(group.size()),
                    each(group, kill -> Arrays.stream(kill.acknowledged()).sum()),
                    each(group, kill -> kill.check().lostChanges()),
                    each(group, kill -> kill.check().lostRows()),
                    each(group, kill -> kill.check().tornActions()))));
    new TextTable(
            out,
            "kill -9 of",
            "TIMES",
            "ACKNOWLEDGED actions",
            "LOST changes",
            "LOST rows",
            "TORN actions")
        .print(lines);
  }

  private static String each(
      List<Comparison.Kill> kills, java.util.function.ToLongFunction<Comparison.Kill> figure) {
    return String.join(
        " / ", kills.stream().map(kill -> "%,d".formatted(figure.applyAsLong(kill))).toList());
  }

  private static double[] sorted(
      List<Comparison.Round> group, ToDoubleFunction<Comparison.Round> figure) {
    return group.stream().mapToDouble(figure).sorted().toArray();
  }

  private static double medianOf(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static String median(
      List<Comparison.Round> group, ToDoubleFunction<Comparison.Round> figure) {
    return "%,.0f".formatted(medianOf(sorted(group, figure)));
  }

  private static String spread(
      List<Comparison.Round> group, ToDoubleFunction<Comparison.Round> figure) {
    double[] all = sorted(group, figure);
    return "%,.0f (%,.0f-%,.0f)".formatted(medianOf(all), all[0], all[all.length - 1]);
  }

  /** Writes every round and kill. */
  void write(Path file, Setting setting) throws IOException {
    ObjectMapper json = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    ObjectNode root = json.createObjectNode();
    root.set("setting", json.valueToTree(setting));
    ArrayNode measured = root.putArray("rounds");
    for (Comparison.Round round : rounds) {
      ObjectNode node = json.valueToTree(round);
      node.put("acceptedPerSecond", Math.round(round.measured().acceptedPerSecond()));
      node.put("endToEndPerSecond", Math.round(round.measured().endToEndPerSecond()));
      measured.add(node);
    }
    root.set("kills", json.valueToTree(kills));
    json.writeValue(file.toFile(), root);
  }
}
