package io.gameq.writer.terminal;

import io.gameq.mysql.tables.AuditTable.Actor;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Who runs a command. Stateless. */
public final class Operator {
  private Operator() {}

  /** The user of this process and its host, as the audit log names them. */
  public static Actor here() {
    return new Actor(System.getProperty("user.name", "?") + "@" + host(), "command line");
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "?";
    }
  }
}
