package io.gameq.writer.campaign.messages;

/** One message that was published, as its node saw it. Used by one thread. */
final class Published {
  final String id;
  final String commit;
  final String topic;
  final String lane;
  final String key;
  final Errand.Kind kind;
  final long invokedAt;

  /** Its number among all that its process published: of one key the later one replaces it. */
  final int number;

  final long afterMillis;

  /** Whether its commit puts a row that holds the commit's id. */
  final boolean isWithRow;

  /** When Redis had it; never, as far as its node knows. */
  long queuedAt = Long.MAX_VALUE;

  boolean isRefused;
  long deleteInvokedAt = Long.MAX_VALUE;
  long deletedAt = Long.MAX_VALUE;

  /** Of a line of {@link MessageNotes}. */
  Published(String[] line, int number) {
    this.invokedAt = Long.parseLong(line[1]);
    this.id = line[2];
    this.commit = line[3];
    this.topic = line[4];
    this.lane = line[5];
    this.key = line[6];
    this.afterMillis = Long.parseLong(line[7]);
    this.kind = Errand.Kind.valueOf(line[8]);
    this.isWithRow = line[9].equals(MessageNotes.WITH_ROW);
    this.number = number;
  }

  boolean isGrouped() {
    return lane.endsWith(":");
  }

  @Override
  public String toString() {
    return "%s (%s, %s/%s)".formatted(id, kind, topic, isGrouped() ? lane + key : key);
  }
}
