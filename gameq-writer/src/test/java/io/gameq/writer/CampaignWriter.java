package io.gameq.writer;

import java.io.IOException;

/**
 * {@code gameq-writer} as it is, but ending with its standard input: no writer outlives the
 * campaign.
 */
public final class CampaignWriter {
  private CampaignWriter() {}

  public static void main(String[] args) {
    Thread watch = new Thread(CampaignWriter::endWithInput, "campaign-watch");
    watch.setDaemon(true);
    watch.start();
    WriterMain.main(args);
  }

  private static void endWithInput() {
    try {
      while (System.in.read() >= 0) {
        // nobody writes to it
      }
    } catch (IOException e) {
      // as if it had ended
    }
    Runtime.getRuntime().halt(0);
  }
}
