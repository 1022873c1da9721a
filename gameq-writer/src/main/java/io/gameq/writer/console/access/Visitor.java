package io.gameq.writer.console.access;

import io.gameq.mysql.tables.AuditTable.Actor;

/**
 * Who asks. Immutable.
 *
 * @param who the name given at sign-in, and that of the token
 * @param address from where
 */
public record Visitor(String who, String address) {
  /** Somebody who only looks, at what is not in the audit log. */
  public static final Visitor NOBODY = new Visitor("", "");

  /** As the audit log names them. */
  public Actor actor() {
    return new Actor(who, "console " + address);
  }
}
