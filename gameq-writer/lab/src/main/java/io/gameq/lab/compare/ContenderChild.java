package io.gameq.lab.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.Contenders;
import io.gameq.lab.load.Contender;
import io.gameq.lab.load.GcPauses;
import io.gameq.lab.load.Load;
import io.gameq.lab.load.Resources;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The main class of a child process: one contender, one {@link ChildJob}, which it reads from its
 * standard input. What it has to say it writes to its standard output, a line each.
 */
public final class ContenderChild {
  /** Said when it is ready: everybody is logged in, warm, and the table is empty. */
  static final String RUNNING = "running";

  /** Told to a child that measures: the clock starts. To one that plays: enough. */
  static final String NEXT = "next";

  private static final int CONNECTIONS = 2;

  private final ChildJob job;
  private final Contender contender;
  private final BufferedReader in;
  private final PrintStream out;
  private final ObjectMapper json = new ObjectMapper();

  private ContenderChild(ChildJob job, Contender contender, BufferedReader in, PrintStream out) {
    this.job = job;
    this.contender = contender;
    this.in = in;
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    // A thread of a contender that dies would let it wait for ever; peers leave threads behind.
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, error) -> {
          error.printStackTrace();
          Runtime.getRuntime().halt(1);
        });
    run();
    System.exit(0);
  }

  private static void run() throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // some libraries greet
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    ChildJob job =
        new ObjectMapper().readValue(Objects.requireNonNull(in.readLine()), ChildJob.class);
    ContenderType type = Contenders.named(job.contender());
    ContenderSetup.Place place = job.setup().place();
    try (Contender contender = type.opening().open(job.setup());
        MySql pool = MySqlPool.open(place.mysql(CONNECTIONS), "compare")) {
      ContenderChild child = new ContenderChild(job, contender, in, out);
      Measurement measurement = new Measurement(job, type, contender, new StoredRows(pool));
      switch (job.mode()) {
        case MEASURE -> child.measure(measurement);
        case PLAY -> child.play(measurement);
        case WRITE -> child.write();
        case TAKE_OVER -> {
          contender.recover();
          child.write();
        }
      }
    }
  }

  private void say(String line) {
    out.println(line);
  }

  private void measure(Measurement measurement) throws Exception {
    measurement.warmUp();
    System.gc();
    say(RUNNING);
    Objects.requireNonNull(in.readLine());
    say(json.writeValueAsString(measurement.measure()));
  }

  private void play(Measurement measurement) throws Exception {
    measurement.warmUp();
    AcknowledgedFile file =
        AcknowledgedFile.open(job.setup().place().path(), job.setup().shape().threads());
    Load load = measurement.load(file::set);
    Thread told = new Thread(() -> stopWhenTold(load), "gameq-compare-told");
    told.setDaemon(true);
    told.start();
    say(RUNNING);
    var unused = load.run(Load.Until.actions(Long.MAX_VALUE));
  }

  private void stopWhenTold(Load load) {
    try {
      String unused = in.readLine();
      load.stop();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Answers each line with what was written so far. */
  private void write() throws IOException {
    say(RUNNING);
    try (GcPauses pauses = new GcPauses()) {
      while (in.readLine() != null) {
        say(
            json.writeValueAsString(
                new ChildReport.Written(
                    contender.rowsWritten(),
                    Resources.processorNanos(),
                    pauses.heapBytesAfterLast(),
                    pauses.takeLongestMillis())));
      }
    }
  }
}
