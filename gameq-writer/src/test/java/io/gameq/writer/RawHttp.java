package io.gameq.writer;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * HTTP as it stands on the wire, so that a test can send what no browser and no client would.
 *
 * @param port on the loopback address
 */
record RawHttp(int port) {
  /** What came back; the headers' names in small letters. */
  record Answer(int status, List<String> headers, String body) {
    String header(String name) {
      String begin = name.toLowerCase(Locale.ROOT) + ": ";
      return headers.stream()
          .filter(of -> of.startsWith(begin))
          .map(of -> of.substring(begin.length()))
          .findFirst()
          .orElse("");
    }
  }

  Answer get(String path, String... headers) throws IOException {
    return send("GET", path, "", headers);
  }

  Answer send(String method, String path, String body, String... headers) throws IOException {
    List<String> lines = new ArrayList<>(List.of(method + " " + path + " HTTP/1.0"));
    lines.addAll(List.of(headers));
    if (!body.isEmpty()) {
      lines.add("Content-Length: " + body.getBytes(UTF_8).length);
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      String request = String.join("\r\n", lines) + "\r\n\r\n" + body;
      socket.getOutputStream().write(request.getBytes(UTF_8));
      String all = new String(socket.getInputStream().readAllBytes(), UTF_8);
      int end = all.indexOf("\r\n\r\n");
      String[] head = all.substring(0, end).split("\r\n", -1);
      List<String> found = new ArrayList<>();
      for (int i = 1; i < head.length; i++) {
        int colon = head[i].indexOf(':');
        found.add(head[i].substring(0, colon).toLowerCase(Locale.ROOT) + head[i].substring(colon));
      }
      return new Answer(Integer.parseInt(head[0].split(" ", -1)[1]), found, all.substring(end + 4));
    }
  }
}
