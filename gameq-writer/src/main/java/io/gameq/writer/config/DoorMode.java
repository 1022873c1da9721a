package io.gameq.writer.config;

/** Whether messages may be published and taken over HTTP. */
public enum DoorMode {
  /** No: there are no such paths. */
  NONE,
  /** Yes, by whoever has a token for it. */
  OPEN
}
