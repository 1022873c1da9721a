package io.gameq.writer;

import java.io.PrintWriter;
import java.io.StringWriter;

/** What one command line printed and returned. */
public record CommandLineRun(int exitCode, String out, String err) {
  public static CommandLineRun of(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = WriterMain.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new CommandLineRun(exitCode, out.toString(), err.toString());
  }
}
