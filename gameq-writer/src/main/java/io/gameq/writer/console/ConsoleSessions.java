package io.gameq.writer.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.writer.config.AccessToken;
import io.gameq.writer.http.AccessTokens;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Those who are signed in to the consoles of a namespace. The cookie is the session: an id, who it
 * is and until when, signed by the token; so all writers that have the token know it, and a restart
 * ends nothing. This writer remembers form ids and who signed out here. Thread-safe.
 */
final class ConsoleSessions {
  /** A working day. */
  static final long LIFE_SECONDS = 8 * 3_600;

  /**
   * With forms, or that signed out; beyond that the one that was used least lately is forgotten.
   */
  static final int MOST = 1_000;

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

  private final AccessTokens tokens;
  private final String namespace;
  private final Clock clock;
  private final Map<String, FormIds> forms = new LruMap<>(MOST, true);
  private final Map<String, Boolean> signedOut = new LruMap<>(MOST, true);

  /** Forgets the entry that came first, or was used least lately, when there are more. */
  private static final class LruMap<T> extends LinkedHashMap<String, T> {
    private static final long serialVersionUID = 1;
    private final int most;

    LruMap(int most, boolean isByUse) {
      super(16, 0.75f, isByUse);
      this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
      return size() > most;
    }
  }

  ConsoleSessions(AccessTokens tokens, String namespace, Clock clock) {
    this.tokens = tokens;
    this.namespace = namespace;
    this.clock = clock;
  }

  ConsoleSession open(String name, AccessToken token) {
    long untilMillis = clock.millis() + LIFE_SECONDS * 1_000;
    String of =
        "%s.%s.%s".formatted(randomId(), untilMillis, ENCODER.encodeToString(name.getBytes(UTF_8)));
    return session(of, token);
  }

  /** The session of a cookie; null when there is none, or it has ended. */
  @Nullable ConsoleSession find(@Nullable String cookie) {
    int end = cookie == null ? -1 : cookie.lastIndexOf('.');
    if (cookie == null || end < 0) {
      return null;
    }
    String of = cookie.substring(0, end);
    AccessToken token = tokens.signer(text("session", of), decoded(cookie.substring(end + 1)));
    if (token == null) {
      return null;
    }
    ConsoleSession session = session(of, token);
    return clock.millis() >= session.untilMillis() || isSignedOut(session) ? null : session;
  }

  /** Of what a session is, which was signed, or is to be. */
  private ConsoleSession session(String of, AccessToken token) {
    String[] parts = of.split("\\.", -1);
    return new ConsoleSession(
        parts[0],
        "%s.%s".formatted(of, signature("session", of, token)),
        signature("csrf", of, token),
        "%s (%s)".formatted(new String(decoded(parts[2]), UTF_8), token.name()),
        token,
        Long.parseLong(parts[1]),
        forms(parts[0]));
  }

  private String signature(String use, String of, AccessToken token) {
    return ENCODER.encodeToString(tokens.sign(token, text(use, of)));
  }

  /** A signature is good for one use, of one namespace. */
  private String text(String use, String of) {
    return "gameq console %s %s %s".formatted(use, namespace, of);
  }

  private static byte[] decoded(String text) {
    try {
      return Base64.getUrlDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      return new byte[0]; // nobody's signature
    }
  }

  private synchronized FormIds forms(String id) {
    return forms.computeIfAbsent(id, unused -> new FormIds(clock));
  }

  private synchronized boolean isSignedOut(ConsoleSession session) {
    return signedOut.containsKey(session.id());
  }

  synchronized void end(ConsoleSession session) {
    signedOut.put(session.id(), true);
    forms.remove(session.id());
  }

  /**
   * Somebody who is signed in; thread-safe.
   *
   * @param id of the session, at all writers
   * @param cookie that the browser keeps
   * @param csrf that every changing request carries: a page from elsewhere cannot read it
   * @param who the name given at sign-in, and that of the token
   * @param untilMillis when it ends, ms since 1970
   */
  record ConsoleSession(
      String id,
      String cookie,
      String csrf,
      String who,
      AccessToken token,
      long untilMillis,
      FormIds forms) {
    @Override
    public String toString() { // not what lets in
      return "ConsoleSession[who=%s, role=%s]".formatted(who, token.role());
    }
  }

  /**
   * Ids for forms of one session, each good for one request: one that is sent again does nothing.
   * Thread-safe.
   */
  static final class FormIds {
    /** Open tabs and dialogs; beyond that the oldest is forgotten. */
    static final int MOST = 100;

    /** Long enough to think about it. */
    static final long LIFE_MILLIS = 30 * 60_000L;

    private final Clock clock;
    private final Map<String, Long> untilMillis = new LruMap<>(MOST, false);

    FormIds(Clock clock) {
      this.clock = clock;
    }

    synchronized String next() {
      String id = randomId();
      untilMillis.put(id, clock.millis() + LIFE_MILLIS);
      return id;
    }

    /** Whether it is one of these and was not used; it is from now on. */
    synchronized boolean use(String id) {
      Long until = untilMillis.remove(id);
      return until != null && clock.millis() < until;
    }
  }

  /** An id that nobody guesses: 256 bits, as text for headers and cookies. */
  private static String randomId() {
    byte[] bytes = new byte[32];
    RANDOM.nextBytes(bytes);
    return ENCODER.encodeToString(bytes);
  }
}
