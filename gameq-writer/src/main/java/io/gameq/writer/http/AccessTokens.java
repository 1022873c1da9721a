package io.gameq.writer.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.GameQueueException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.writer.config.AccessToken;
import io.javalin.http.Context;
import io.javalin.http.TooManyRequestsResponse;
import io.javalin.http.UnauthorizedResponse;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokens that let their bearers in, as their files have them: a new one counts within seconds,
 * and the one before it no more. Of a file that cannot be read the token before stays. Thread-safe.
 *
 * <p>Whoever gives ten wrong ones within a minute is told to wait for the rest of it. A right token
 * passes: others may share the address, as behind a proxy, and a token of 16 characters is not
 * guessed. That is forgotten with the process.
 */
public final class AccessTokens {
  private static final Logger LOG = LoggerFactory.getLogger(AccessTokens.class);

  private static final String SCHEME = "Bearer ";
  private static final long READ_EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long WARN_EVERY_SECONDS = 60;

  /** Leaves room for slips, and makes guessing a matter of many lifetimes. */
  static final int MOST_WRONG_A_MINUTE = 10;

  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Whoever has more addresses than this is not stopped by counting them. */
  private static final int MOST_ADDRESSES = 1_000;

  private final List<AccessToken> tokens;
  private final RepeatedWarnings warnings = new RepeatedWarnings(WARN_EVERY_SECONDS);
  private volatile Digests latest;

  private final Map<String, FailureCount> wrong =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, FailureCount> eldest) {
          return size() > MOST_ADDRESSES;
        }
      };

  private record FailureCount(long sinceNanos, int count) {}

  /** Of all tokens, as they were read at a time. */
  private record Digests(List<byte[]> all, long atNanos) {}

  /** Reads them all; throws GameQueueException when one cannot be read. */
  public AccessTokens(List<AccessToken> tokens) {
    this.tokens = List.copyOf(tokens);
    this.latest =
        new Digests(
            tokens.stream().map(of -> digest(of.secret().read())).toList(), System.nanoTime());
  }

  /** Whether there is none: then nobody is asked for one. */
  public boolean isEmpty() {
    return tokens.isEmpty();
  }

  /** The token that this is; null for a wrong one. Takes as long either way. */
  public @Nullable AccessToken find(String secret) {
    byte[] given = digest(secret);
    return find(digest -> MessageDigest.isEqual(digest, given));
  }

  private @Nullable AccessToken find(Predicate<byte[]> isIt) {
    AccessToken found = null;
    List<byte[]> digests = digests();
    for (int i = 0; i < tokens.size(); i++) {
      if (isIt.test(digests.get(i))) {
        found = tokens.get(i);
      }
    }
    return found;
  }

  /** The token that a request carries; null when it has none, or a wrong one. */
  @Nullable AccessToken find(Context context) {
    String header = context.header("Authorization");
    AccessToken token =
        header != null && header.startsWith(SCHEME)
            ? find(header.substring(SCHEME.length()))
            : null;
    if (header != null && token == null) {
      countWrong(context.ip());
    }
    return token;
  }

  /** The same; refuses a request that has none, saying what is needed. */
  public AccessToken require(Context context, String needed) {
    AccessToken token = find(context);
    if (token == null) {
      refuseGuesses(context.ip());
      context.header("WWW-Authenticate", "Bearer");
      throw new UnauthorizedResponse(needed);
    }
    return token;
  }

  /** Somebody at this address gave a wrong one. */
  public void countWrong(String address) {
    synchronized (wrong) {
      FailureCount before = recent(address);
      wrong.put(address, new FailureCount(before.sinceNanos, before.count + 1));
    }
  }

  /** Refuses who gave too many wrong ones from this address. */
  public void refuseGuesses(String address) {
    synchronized (wrong) {
      if (recent(address).count >= MOST_WRONG_A_MINUTE) {
        throw new TooManyRequestsResponse("too many wrong tokens from here: wait a minute");
      }
    }
  }

  private FailureCount recent(String address) {
    long now = System.nanoTime();
    FailureCount of = wrong.get(address);
    return of == null || now - of.sinceNanos >= MINUTE_NANOS ? new FailureCount(now, 0) : of;
  }

  /**
   * Signs a text by the token as it is now: every process that has the token verifies it, and
   * nobody does once the token has changed.
   */
  public byte[] sign(AccessToken token, String text) {
    return hmac(digests().get(tokens.indexOf(token)), text);
  }

  /** The token by which a text was signed; null for none of these. Takes as long either way. */
  public @Nullable AccessToken signer(String text, byte[] signature) {
    return find(digest -> MessageDigest.isEqual(hmac(digest, text), signature));
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }

  private List<byte[]> digests() {
    Digests before = latest;
    if (System.nanoTime() - before.atNanos < READ_EVERY_NANOS) {
      return before.all;
    }
    List<byte[]> now = new ArrayList<>();
    for (int i = 0; i < tokens.size(); i++) {
      now.add(digestNow(tokens.get(i), before.all.get(i)));
    }
    latest = new Digests(now, System.nanoTime());
    return now;
  }

  private byte[] digestNow(AccessToken token, byte[] before) {
    try {
      String secret = token.secret().read();
      if (secret.length() >= AccessToken.LEAST_CHARS) {
        return digest(secret);
      }
      warn(token, "it has less than %s characters now".formatted(AccessToken.LEAST_CHARS));
    } catch (GameQueueException e) {
      warn(token, e.getMessage());
    }
    return before;
  }

  private void warn(AccessToken token, @Nullable String why) {
    warnings.about(
        token.name(),
        LOG::warn,
        () -> "token %s stays what it was: %s".formatted(token.name(), why));
  }

  /** Of equal length for all secrets, so that the comparison does not tell how long they are. */
  private static byte[] digest(String secret) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
