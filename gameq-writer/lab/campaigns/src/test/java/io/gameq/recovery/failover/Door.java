package io.gameq.recovery.failover;

import io.gameq.servers.FaultProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * The address under which everybody knows one Redis server. Behind it lies one proxy for clients,
 * one for Sentinels and one for other servers, told apart by the loopback address that they come
 * from: so that a partition may leave a server with its clients and nobody else. Thread-safe.
 */
final class Door implements AutoCloseable {
  /** What Sentinels and servers bind to, and so come from; clients come from 127.0.0.1. */
  static final String SENTINELS = "127.0.0.2";

  static final String SERVERS = "127.0.0.3";

  private final ServerSocket socket;
  private final FaultProxy clients;
  private final FaultProxy sentinels;
  private final FaultProxy servers;

  Door(int targetPort) {
    clients = new FaultProxy(targetPort);
    sentinels = new FaultProxy(targetPort);
    servers = new FaultProxy(targetPort);
    try {
      socket = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread thread = new Thread(this::accept, "door");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket guest = socket.accept();
        switch (guest.getInetAddress().getHostAddress()) {
          case SENTINELS -> sentinels.take(guest);
          case SERVERS -> servers.take(guest);
          default -> clients.take(guest);
        }
      } catch (IOException e) {
        // the door was closed, or the server is dead
      }
    }
  }

  int port() {
    return socket.getLocalPort();
  }

  FaultProxy clients() {
    return clients;
  }

  /** Replicas get nothing any more: an error at once, or silence. */
  void cutServers(boolean silently) {
    cut(servers, silently);
  }

  void cutSentinels(boolean silently) {
    cut(sentinels, silently);
  }

  private static void cut(FaultProxy proxy, boolean silently) {
    if (silently) {
      proxy.swallow();
    } else {
      proxy.refuse(true);
      proxy.cut();
    }
  }

  void heal() {
    clients.heal();
    sentinels.heal();
    servers.heal();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // closed already
    }
    clients.close();
    sentinels.close();
    servers.close();
  }
}
