package io.gameq.lab;

import java.io.PrintWriter;
import java.io.StringWriter;

/** What one command line printed and returned. */
public record LabRun(int exitCode, String out, String err) {
  public static LabRun of(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = LabMain.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new LabRun(exitCode, out.toString(), err.toString());
  }
}
