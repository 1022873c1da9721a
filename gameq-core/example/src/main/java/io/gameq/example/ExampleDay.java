package io.gameq.example;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A day in the game: what players do on two nodes. */
public final class ExampleDay {
  private static final long ANNA = 42;
  private static final long BERT = 43;
  private static final long CARA = 44;
  private static final long GUILD = 7;
  private static final int SWORD = 1001;
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private ExampleDay() {}

  /** Plays it, and tells of it. */
  public static void play(ExampleGame one, ExampleGame two, PrintStream out)
      throws InterruptedException {
    // Login. Cara was here yesterday and is offline now.
    two.logout(two.login(CARA, "Cara"));
    OnlinePlayer anna = one.login(ANNA, "Anna");
    OnlinePlayer bert = one.login(BERT, "Bert");

    // Play: commits return at once, the game loop never waits.
    one.find(anna, 3, SWORD, 20);
    one.find(bert, 1, 7, 100);

    // A trade: the sword for 50 pieces of gold, in one commit.
    one.sell(anna, 3, bert, 9, 50).awaitQueued(PATIENCE);
    out.println("sold: Anna has " + anna.row().gold() + ", Bert has " + bert.row().gold());

    // Mail to Cara, who is offline, and again when she is online on the other node.
    one.send(anna, CARA, "are you there?").awaitQueued(PATIENCE);
    OnlinePlayer cara = two.login(CARA, "Cara");
    BlockingQueue<Rows.Mail> letters = new LinkedBlockingQueue<>();
    cara.onMail(letters::add);
    one.send(bert, CARA, "I have a sword now");
    for (int letter = 1; letter <= 2; letter++) {
      Rows.Mail mail = letters.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      out.println(mail == null ? "no mail" : mail.sender() + " to Cara: " + mail.text());
    }

    // A guild of players on two nodes.
    two.find(cara, 1, 8, 30);
    one.give(anna, GUILD, "Blades", 10);
    two.give(cara, GUILD, "Blades", 5);
    out.println("members of the guild: " + one.membersOf(GUILD).size());

    // Logout of one; the others are still there when the nodes shut down.
    two.logout(cara);
  }
}
