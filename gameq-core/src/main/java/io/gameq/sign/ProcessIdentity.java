package io.gameq.sign;

import io.gameq.sign.Protocol.ProtocolRange;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Which process it is. Immutable.
 *
 * @param name as it was configured
 * @param version of gameq; {@code ?} where nobody says
 * @param speaks which protocols
 * @param startedMillis ms since 1970, by its host's clock
 */
public record ProcessIdentity(
    String name, String host, long pid, String version, ProtocolRange speaks, long startedMillis) {
  /** This process. */
  public static ProcessIdentity here(String name) {
    return new ProcessIdentity(
        name,
        hostName(),
        ProcessHandle.current().pid(),
        Protocol.RELEASE,
        ProtocolRange.ours(),
        System.currentTimeMillis());
  }

  /** What this host calls itself; {@code ?} when it does not know. */
  public static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "?";
    }
  }
}
