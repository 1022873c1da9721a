package io.gameq.sign;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Which process it is. Immutable.
 *
 * @param name as it was configured
 * @param version of gameq; {@code ?} where the jar does not say
 * @param startedMillis ms since 1970, by its host's clock
 */
public record ProcessIdentity(
    String name, String host, long pid, String version, long startedMillis) {
  /**
   * This process.
   *
   * @param of a class of the jar whose version is to be told
   */
  public static ProcessIdentity here(String name, Class<?> of) {
    String version = of.getPackage().getImplementationVersion();
    return new ProcessIdentity(
        name,
        hostName(),
        ProcessHandle.current().pid(),
        version == null ? "?" : version,
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
