package io.gameq.writer.campaign;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.config.Takeover;
import io.gameq.node.NodeAccess;
import io.gameq.writer.campaign.CampaignTables.Deed;
import io.gameq.writer.campaign.CampaignTables.Gear;
import io.gameq.writer.campaign.CampaignTables.Item;
import io.gameq.writer.campaign.CampaignTables.Mail;
import io.gameq.writer.campaign.CampaignTables.Pet;
import io.gameq.writer.campaign.messages.MessagePlayer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Plays a few owners, one commit after the other, by a seed. One thread, so that the commits of a
 * session have an order; the commands come from another.
 */
final class CampaignPlayer implements Runnable {
  private static final long PAUSE_NANOS = 6_000_000;
  private static final int ITEM_SLOTS = 40;
  private static final int MOST_PETS = 3;
  private static final int MOST_GEAR = 12;
  private static final long MOVE_WAIT_SECONDS = 10;

  /** Of 100 things that it does, so many have to do with rows that are sent. */
  private static final int MAILS_IN_100 = 20;

  private final GameQueue queue;
  private final Ledger ledger;
  private final List<Long> owners;
  private final int home;

  /** An owner that is opened now and then, and closed at once. */
  private final long mostlyAway;

  private final Random random;
  private final Map<Long, Held> held = new HashMap<>();

  /** Those that it plays with at this moment. */
  private final List<Held> picked = new ArrayList<>();

  private final MessagePlayer messages;
  private final BiConsumer<OwnerSession, CampaignPlayer> handling;

  /** Commits that publish a message as well. */
  private final Set<String> staged = new HashSet<>();

  private volatile boolean stopped;
  private volatile boolean stealAll;
  private volatile boolean poison;
  private volatile boolean gear;

  /**
   * What all players of a node play with.
   *
   * @param handling has a new session of a player handle its owner's messages
   */
  record Game(
      GameQueue queue, MessagePlayer messages, BiConsumer<OwnerSession, CampaignPlayer> handling) {}

  /** An owner that this player has a session of. */
  private static final class Held {
    final long owner;
    final OwnerSession session;
    final Attempt.Part part;
    final CampaignMail mails;
    final List<Long> pets = new ArrayList<>();
    final Map<Long, Gear> gear = new LinkedHashMap<>();

    /** Set by gameq's thread when a commit was not acknowledged: open again to know. */
    volatile boolean doubtful;

    Held(long owner, OwnerSession session, Ledger ledger) {
      this.owner = owner;
      this.session = session;
      this.part = new Attempt.Part(session.owner(), NodeAccess.epoch(session));
      this.mails = new CampaignMail(session, part, ledger);
    }

    boolean isLost() {
      return session.lost().toCompletableFuture().isDone();
    }
  }

  /**
   * A player.
   *
   * @param home owners with this number modulo 2 are its own
   */
  CampaignPlayer(Game game, Ledger ledger, List<Long> owners, int home, long seed) {
    this.queue = game.queue;
    this.messages = game.messages;
    this.handling = game.handling;
    this.ledger = ledger;
    this.owners = owners;
    this.home = home;
    this.mostlyAway = CampaignNode.PLAYERS + owners.get(0);
    this.random = new Random(seed);
  }

  Ledger ledger() {
    return ledger;
  }

  void stop() {
    stopped = true;
  }

  void stealAll() {
    stealAll = true;
  }

  void poisonOnce() {
    poison = true;
  }

  void useGear() {
    gear = true;
  }

  void haltAtNextCommit() {
    ledger.haltNext();
  }

  @Override
  public void run() {
    try {
      while (!stopped) {
        try {
          play();
        } catch (GameQueueException e) { // a server is away, or another node was quicker
          picked.forEach(of -> of.doubtful = true); // the commit of a message ended its session
          TimeUnit.MILLISECONDS.sleep(20);
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      leaveEnded();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One thread at a time acts for its owners. */
  synchronized void runAlone(Runnable task) {
    task.run();
  }

  /** A refused commit has ended a session: it is opened again, or left to who opens owners. */
  synchronized void ended(OwnerSession session) {
    held.values().stream().filter(of -> of.session == session).forEach(of -> of.doubtful = true);
    if (stopped) {
      leaveEnded();
    }
  }

  private synchronized void leaveEnded() {
    List<Held> ended = held.values().stream().filter(of -> of.doubtful).toList();
    held.values().removeAll(ended);
    for (Held of : ended) {
      try {
        of.session.close();
      } catch (GameQueueException e) {
        // it is closed all the same; such as half of a trade was staged in it
      }
    }
  }

  private synchronized void play() throws InterruptedException {
    picked.clear();
    if (stealAll) {
      for (long owner : owners) {
        open(owner);
      }
      stealAll = false;
    }
    Held one = pick();
    if (one == null) {
      return;
    }
    if (random.nextInt(100) < MAILS_IN_100) {
      playMails(one);
      return;
    }
    int dice = random.nextInt(100);
    if (poison && one.owner % 2 == home) {
      poison = false;
      commit(ledger.nextPoison(), one, this::poisonItem);
    } else if (gear && dice < 40) {
      commit(ledger.nextId(), one, this::changeGear);
    } else if (dice < 62) {
      commit(ledger.nextId(), one, this::putItems);
    } else if (dice < 74) {
      commit(ledger.nextId(), one, this::deleteItem);
    } else if (dice < 84) {
      commit(ledger.nextId(), one, this::changePet);
    } else {
      Held other = pick();
      if (other == null || other == one) {
        commit(ledger.nextId(), one, this::putItems);
      } else if (dice < 92) {
        trade(one, other);
      } else if (dice < 97) {
        move(one, other);
      } else {
        held.remove(one.owner);
        one.session.close();
      }
    }
  }

  private void playMails(Held one) {
    int dice = random.nextInt(100);
    if (dice < 40) {
      sendAlone();
    } else if (dice < 65) {
      commit(ledger.nextId(), one, this::sendWithDeed);
    } else if (dice < 96) {
      commit(ledger.nextId(), one, this::changeMail);
    } else {
      Held visited = open(mostlyAway);
      commit(ledger.nextId(), visited, this::changeMail);
      held.remove(mostlyAway);
      visited.session.close();
    }
  }

  /** Notes what sessions the player has, once nobody plays any more. */
  void noteHeld() {
    held.values().stream().filter(of -> !of.isLost()).forEach(of -> ledger.holds(of.part));
  }

  // --- owners

  /** Mostly one of this node's own; now and then another's, which is taken over. */
  private @Nullable Held pick() {
    long owner = owners.get(random.nextInt(owners.size()));
    Held of = held.get(owner);
    if (of != null && !of.doubtful) {
      picked.add(of);
      return of;
    }
    if (owner % 2 != home && random.nextInt(200) > 0) {
      return null;
    }
    return open(owner);
  }

  private Held open(long owner) {
    Held before = held.get(owner); // when the open fails, it is left at the end
    boolean isLeftOpen = before != null; // UNLESS_ALIVE would protect it
    if (before != null) {
      before.doubtful = true;
    }
    long from = System.nanoTime();
    Takeover takeover =
        random.nextInt(4) == 0 && !isLeftOpen ? Takeover.UNLESS_ALIVE : Takeover.ALWAYS;
    OwnerSession session = queue.open(CampaignTables.player(owner), takeover);
    Held of = new Held(owner, session, ledger);
    Map<String, String> rows = new LinkedHashMap<>();
    session.rows(Item.class).forEach(r -> rows.put(CampaignTables.item(owner, r.slot()), r.val()));
    for (Pet pet : session.rows(Pet.class)) {
      rows.put(CampaignTables.pet(pet.id()), pet.val());
      of.pets.add(pet.id());
    }
    session.rows(Mail.class).forEach(r -> rows.put(CampaignTables.mail(r.id()), r.val()));
    session.rows(Deed.class).forEach(r -> rows.put(CampaignTables.deed(r.id()), r.val()));
    for (Gear row : session.rows(Gear.class)) {
      rows.put(CampaignTables.gear(row.id()), row.val());
      of.gear.put(row.id(), row);
    }
    ledger.opened(from, session.owner(), of.part.epoch(), rows);
    session.forgetLoaded();
    held.put(owner, of);
    handling.accept(session, this);
    return of;
  }

  // --- commits

  /** To anybody: one that this node has, that another one has, or that nobody has. */
  private void sendAlone() {
    String id = ledger.nextId();
    long to = 1L + random.nextInt(CampaignNode.RECEIVERS);
    Mail mail = new Mail(ledger.nextRowId(), to, id);
    String owner = CampaignTables.player(to);
    ledger.commit(
        id,
        List.of(),
        List.of(new Change(CampaignTables.mail(mail.id()), owner, true)),
        () -> LateColumns.send(queue, owner, mail),
        error -> {});
  }

  private void sendWithDeed(Held of, String id, List<Change> changes) {
    putDeed(of, id, changes);
    for (int i = random.nextInt(2); i >= 0; i--) {
      long to = 1L + random.nextInt(CampaignNode.RECEIVERS);
      if (to != of.owner) {
        Mail mail = new Mail(ledger.nextRowId(), to, id);
        String owner = CampaignTables.player(to);
        LateColumns.send(queue, of.session, owner, mail);
        changes.add(new Change(CampaignTables.mail(mail.id()), owner, true));
      }
    }
  }

  private void changeMail(Held of, String id, List<Change> changes) {
    Mail mail = of.mails.any(random);
    if (mail == null) {
      putItems(of, id, changes);
      return;
    }
    boolean put = random.nextBoolean();
    if (put) {
      Mail changed = new Mail(mail.id(), of.owner, id);
      LateColumns.put(queue, of.session, changed);
      of.mails.put(changed);
    } else {
      of.session.delete(Mail.class, mail.id());
      of.mails.remove(mail);
    }
    changes.add(new Change(CampaignTables.mail(mail.id()), of.session.owner(), put));
  }

  private interface Staging {
    void stage(Held of, String id, List<Change> changes);
  }

  private void commit(String id, Held of, Staging staging) {
    List<Change> changes = new ArrayList<>();
    staging.stage(of, id, changes);
    boolean withMessage = staged.remove(id);
    ledger.commit(
        id,
        List.of(of.part),
        changes,
        of.session::commit,
        error -> {
          of.doubtful |= error != null;
          if (withMessage) {
            messages.ended(id, error);
          }
        });
  }

  private void putItems(Held of, String id, List<Change> changes) {
    int slot = random.nextInt(ITEM_SLOTS);
    for (int i = random.nextInt(3); i >= 0; i--) {
      put(of, (slot + i) % ITEM_SLOTS, id, changes);
    }
    if (random.nextInt(3) == 0) {
      long deed = putDeed(of, id, changes);
      if (deed % 3 == 0) {
        messages.stage(of.session, id, random);
        staged.add(id);
      }
    }
  }

  private long putDeed(Held of, String id, List<Change> changes) {
    long deed = ledger.nextRowId();
    LateColumns.put(queue, of.session, new Deed(deed, of.owner, id));
    changes.add(new Change(CampaignTables.deed(deed), of.session.owner(), true));
    return deed;
  }

  private void put(Held of, int slot, String id, List<Change> changes) {
    LateColumns.put(queue, of.session, new Item(of.owner, slot, id));
    changes.add(new Change(CampaignTables.item(of.owner, slot), of.session.owner(), true));
  }

  private void poisonItem(Held of, String id, List<Change> changes) {
    put(of, ITEM_SLOTS, id, changes);
  }

  private void deleteItem(Held of, String id, List<Change> changes) {
    int slot = random.nextInt(ITEM_SLOTS);
    of.session.delete(Item.class, of.owner, slot);
    changes.add(new Change(CampaignTables.item(of.owner, slot), of.session.owner(), false));
  }

  private void changePet(Held of, String id, List<Change> changes) {
    if (of.pets.size() < MOST_PETS) {
      of.pets.add(ledger.nextRowId());
    }
    int at = random.nextInt(of.pets.size());
    long pet = of.pets.get(at);
    boolean put = random.nextInt(6) > 0;
    if (put) {
      LateColumns.put(queue, of.session, new Pet(pet, of.owner, id));
    } else {
      of.session.delete(Pet.class, pet);
      of.pets.remove(at);
    }
    changes.add(new Change(CampaignTables.pet(pet), of.session.owner(), put));
  }

  private void changeGear(Held of, String id, List<Change> changes) {
    int dice = random.nextInt(3);
    if (of.gear.isEmpty() || (dice == 0 && of.gear.size() < MOST_GEAR)) {
      fillNewBag(of, id, changes);
    } else if (dice == 1) {
      dropBag(of, changes);
    } else {
      exchangeSlots(of, id, changes);
    }
  }

  private void fillNewBag(Held of, String id, List<Change> changes) {
    List<Integer> taken = of.gear.values().stream().map(Gear::slot).toList();
    int slot = 0;
    Long bag = ledger.nextRowId();
    for (int i = random.nextInt(3); i >= 0; i--) { // what is in it first, the bag itself last
      while (taken.contains(slot)) {
        slot++;
      }
      long row = i == 0 ? bag : ledger.nextRowId();
      putGear(of, new Gear(row, of.owner, slot++, i == 0 ? null : bag, id), changes);
    }
  }

  /** The bag first, what is in it after. */
  private void dropBag(Held of, List<Change> changes) {
    Gear any = anyGear(of).get(0);
    Long bag = any.bag() == null ? Long.valueOf(any.id()) : any.bag();
    List<Long> gone = new ArrayList<>(List.of(bag));
    of.gear.values().stream()
        .filter(row -> bag.equals(row.bag()))
        .forEach(row -> gone.add(row.id()));
    for (long row : gone) {
      of.gear.remove(row);
      of.session.delete(Gear.class, row);
      changes.add(new Change(CampaignTables.gear(row), of.session.owner(), false));
    }
  }

  private void exchangeSlots(Held of, String id, List<Change> changes) {
    List<Gear> some = anyGear(of);
    some = some.subList(0, Math.min(some.size(), 3));
    for (int i = 0; i < some.size(); i++) {
      Gear row = some.get(i);
      int slot = some.get((i + 1) % some.size()).slot();
      putGear(of, new Gear(row.id(), of.owner, slot, row.bag(), id), changes);
    }
  }

  private List<Gear> anyGear(Held of) {
    List<Gear> all = new ArrayList<>(of.gear.values());
    Collections.shuffle(all, random);
    return all;
  }

  private void putGear(Held of, Gear row, List<Change> changes) {
    of.gear.put(row.id(), row);
    LateColumns.put(queue, of.session, row);
    changes.add(new Change(CampaignTables.gear(row.id()), of.session.owner(), true));
  }

  private void trade(Held from, Held to) {
    String id = ledger.nextId();
    int slot = random.nextInt(ITEM_SLOTS);
    List<Change> changes = new ArrayList<>();
    deleteItem(from, id, changes);
    put(to, slot, id, changes);
    commitBoth(id, from, to, changes);
  }

  /** Waits for the outcome: whose pet it is decides who may write it next. */
  private void move(Held from, Held to) throws InterruptedException {
    if (from.pets.isEmpty() || to.pets.size() > MOST_PETS) {
      commit(ledger.nextId(), from, this::putItems);
      return;
    }
    String id = ledger.nextId();
    long pet = from.pets.remove(0);
    to.pets.add(pet);
    LateColumns.move(queue, from.session, new Pet(pet, to.owner, id), to.session);
    CompletableFuture<Boolean> moved =
        commitBoth(
            id, from, to, List.of(new Change(CampaignTables.pet(pet), to.session.owner(), true)));
    try {
      moved.get(MOVE_WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      from.doubtful = true;
      to.doubtful = true;
    }
  }

  private CompletableFuture<Boolean> commitBoth(
      String id, Held from, Held to, List<Change> changes) {
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    ledger.commit(
        id,
        List.of(from.part, to.part),
        changes,
        () -> queue.commit(from.session, to.session),
        error -> {
          from.doubtful |= error != null;
          to.doubtful |= error != null;
          ended.complete(error == null);
        });
    return ended;
  }
}
