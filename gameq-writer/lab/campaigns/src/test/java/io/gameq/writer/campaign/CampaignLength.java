package io.gameq.writer.campaign;

/** How long the campaigns are: {@code -Dgameq.campaign=short} for what a submission must pass. */
public final class CampaignLength {
  private CampaignLength() {}

  public static boolean isShort() {
    return "short".equals(System.getProperty("gameq.campaign"));
  }
}
