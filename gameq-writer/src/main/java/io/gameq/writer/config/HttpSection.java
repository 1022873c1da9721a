package io.gameq.writer.config;

import io.gameq.Password;
import io.gameq.writer.config.AccessToken.Role;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code http} of the configuration file. Stateless. */
final class HttpSection {
  private static final int MAX_PORT = 65_535;

  /** Each is compared with what a request carries. */
  private static final int MOST_TOKENS = 50;

  private HttpSection() {}

  static HttpSettings read(Section http) {
    HttpSettings settings =
        new HttpSettings(
            http.text("address", HttpSettings.DEFAULT_ADDRESS),
            http.number("port", HttpSettings.DEFAULT_PORT, 0, MAX_PORT),
            http.text("port") != null,
            tokens(http),
            tls(http.section("tls")),
            http.yes("behindProxy", false),
            http.oneOf("console", ConsoleMode.ACT),
            http.oneOf("door", DoorMode.NONE));
    http.refuseOthers();
    return settings;
  }

  private static List<AccessToken> tokens(Section http) {
    List<AccessToken> tokens = new ArrayList<>();
    Set<String> secrets = new HashSet<>();
    Password single = token(http);
    if (single != null) {
      secrets.add(single.read());
      tokens.add(new AccessToken("token", Role.ACT, single, List.of(), true));
    }
    Set<String> names = new HashSet<>();
    List<Section> named = http.sections("tokens");
    if (named.size() > MOST_TOKENS) {
      throw http.wrong("tokens", "are %s: use %s at most".formatted(named.size(), MOST_TOKENS));
    }
    for (Section of : named) {
      String name = of.required("name");
      if (!name.matches("[A-Za-z0-9._-]{1,32}")) {
        throw of.wrongValue("name", "use 1 to 32 of A-Z a-z 0-9 . _ -");
      }
      if (!names.add(name)) {
        throw of.wrongValue("name", "it is there for a second time");
      }
      Role role = of.oneOf("role", Role.READ);
      Password secret = token(of);
      List<String> topics = topics(of);
      boolean mayDefine = of.yes("define", false) || role == Role.ACT;
      of.refuseOthers();
      if (secret == null) {
        throw of.wrong("tokenFile", "is missing: it has no default");
      }
      if (!secrets.add(secret.read())) {
        throw of.wrong("tokenFile", "has the same token as another: whose it is must be known");
      }
      tokens.add(new AccessToken(name, role, secret, topics, mayDefine));
    }
    return tokens;
  }

  /** Names or patterns, separated by spaces. */
  private static List<String> topics(Section of) {
    String text = of.text("topics");
    List<String> topics = text == null ? List.of() : List.of(text.strip().split(" +"));
    for (String topic : topics) {
      if (!topic.matches("[a-z0-9_*-]{1,32}")) {
        throw of.wrongValue(
            "topics", "use names of topics separated by spaces, with * for any characters");
      }
    }
    return topics;
  }

  private static @Nullable Password token(Section of) {
    Password token = ConfigReader.password(of, "token");
    if (token != null && token.read().length() < AccessToken.LEAST_CHARS) {
      throw of.wrong(
          "token", "is too short: use %s characters or more".formatted(AccessToken.LEAST_CHARS));
    }
    return token;
  }

  private static @Nullable TlsFiles tls(Section tls) {
    String certFile = tls.text("certFile");
    String keyFile = tls.text("keyFile");
    tls.refuseOthers();
    if (certFile == null && keyFile == null) {
      return null;
    }
    if (certFile == null || keyFile == null) {
      throw tls.wrong(
          certFile == null ? "certFile" : "keyFile",
          "is missing: certFile and keyFile go together");
    }
    return new TlsFiles(
        Objects.requireNonNull(ConfigReader.file(tls, "certFile")),
        Objects.requireNonNull(ConfigReader.file(tls, "keyFile")));
  }
}
