package io.gameq.writer.campaign;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Stops a process and lets it go on, as an overloaded or suspended host does. Stateless. */
public final class Signals {
  private Signals() {}

  public static void stop(long pid) {
    send("-STOP", pid);
  }

  public static void resume(long pid) {
    send("-CONT", pid);
  }

  private static void send(String signal, long pid) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(pid)).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
