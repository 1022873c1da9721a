package io.gameq.wal;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.config.WalSync;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.wal.FileScan.WalDamage;
import io.gameq.wal.WalCodec.Envelope;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A WAL of several files to be damaged, which knows where each record was and which bytes were
 * touched. Not thread-safe.
 */
final class WalSpecimen {
  static final WalLimits SMALL_FILES =
      new WalLimits(
          Duration.ofHours(1), 1L << 30, 0, WalSync.OFF, 160 << 10, Duration.ofMinutes(10));

  /** A record of the healthy WAL. */
  record Place(String file, long offset, int length, long sequence) {
    long end() {
      return offset + length;
    }
  }

  private record Touched(String file, long from, long to) {}

  final Path directory;
  final List<Place> places;
  private final List<Touched> touched = new ArrayList<>();

  private WalSpecimen(Path directory, List<Place> places) {
    this.directory = directory;
    this.places = places;
  }

  static WalWriter writer(Path parent, String process, WalLimits limits) {
    return WalWriter.create(
        new WalWriter.Start(parent, "game", 16, "0db", "node-1", process, 1_790_000_000_000L),
        limits,
        List.of(new WalRecord.Layout("item", 0xFFFFFFFFL, "id int")));
  }

  /**
   * Writes a WAL of about {@code commits} records, of 1 to 4 rows each and some of a message as
   * well, and closes it.
   */
  static Path write(Path parent, String process, int commits, Random random) {
    try (WalWriter wal = writer(parent, process, SMALL_FILES)) {
      for (int i = 0; i < commits; i++) {
        wal.append(commit(random, random.nextInt(400)));
      }
      return wal.directory();
    }
  }

  static Commit commit(Random random, int blobBytes) {
    byte[] blob = new byte[blobBytes];
    random.nextBytes(blob);
    return commit(blob, 1 + random.nextInt(4));
  }

  static Commit commit(byte[] blob, int rows) {
    SessionRef session =
        new SessionRef(OwnerId.of("player:1"), new SessionId(3, "0badcafe00000001"), 1);
    List<ChangedRow> changed = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      byte[] image = new byte[17 + blob.length];
      java.util.Arrays.fill(image, 0, 16, (byte) '0');
      image[16] = 'p';
      System.arraycopy(blob, 0, image, 17, blob.length);
      changed.add(new ChangedRow("item:" + i, image));
    }
    return new Commit(
        List.of(new CommitPart(session, changed)), rows == 1 ? message(blob) : List.of(), null) {
      @Override
      public void queued() {}

      @Override
      public void failed(RuntimeException reason) {}
    };
  }

  private static List<MessageChange> message(byte[] payload) {
    MessageId id = MessageId.of("mail", "player:1", "a letter");
    return List.of(
        new MessageChange.Publish(
            id, id.slot(16), 7, true, 0, MessageValue.encode(5, 1, "", payload)));
  }

  /** A copy without the long tails of zeros, so that many are cheap. */
  static WalSpecimen copy(Path wal, Path to) throws IOException {
    Path directory = Files.createDirectories(to.resolve(wal.getFileName().toString()));
    List<Place> places = new ArrayList<>();
    try (Stream<Path> files = Files.list(wal)) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".cq4")) {
          places.addAll(places(file, Envelope.tag(wal.getFileName().toString())));
          try (InputStream from = Files.newInputStream(file);
              FileScan scan = new FileScan(file, 1 << 20)) {
            int used = (int) ((scan.endOfNonZero(0) + 12_288) & -4096L);
            Files.write(directory.resolve(name), from.readNBytes(used));
          }
        } else {
          Files.copy(file, directory.resolve(name));
        }
      }
    }
    return new WalSpecimen(directory, places);
  }

  private static List<Place> places(Path file, int tag) throws IOException {
    List<Place> places = new ArrayList<>();
    try (FileScan scan = new FileScan(file, 1 << 20)) {
      scan.run(
          tag,
          new FileScan.Found() {
            @Override
            public void record(byte[] buffer, int at, int length, long offset) {
              places.add(
                  new Place(
                      file.getFileName().toString(),
                      offset,
                      length,
                      Envelope.sequence(buffer, at)));
            }

            @Override
            public void damage(
                WalDamage.Kind kind, long offset, long bytes, long records, String detail) {
              throw new AssertionError(kind + " in a healthy file: " + detail);
            }
          },
          false,
          true);
    }
    return places;
  }

  List<String> files() {
    return places.stream().map(Place::file).distinct().toList();
  }

  List<Place> in(String file) {
    return places.stream().filter(place -> place.file().equals(file)).toList();
  }

  /** A record in the middle of the {@code file}th file. */
  Place middle(int file) {
    List<Place> in = in(files().get(file));
    return in.get(in.size() / 2);
  }

  Place last() {
    return places.get(places.size() - 1);
  }

  long size(String file) throws IOException {
    return Files.size(directory.resolve(file));
  }

  // --- damage

  void overwrite(String file, long offset, byte... bytes) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(directory.resolve(file).toFile(), "rw")) {
      byte[] before = new byte[bytes.length];
      open.seek(offset);
      open.readFully(before);
      open.seek(offset);
      open.write(bytes);
      for (int i = 0; i < bytes.length; i++) {
        int from = i;
        while (i < bytes.length && before[i] != bytes[i]) { // what does not change is not damaged
          i++;
        }
        if (i > from) {
          touched.add(new Touched(file, offset + from, offset + i));
        }
      }
    }
  }

  void zero(String file, long offset, int bytes) throws IOException {
    overwrite(file, offset, new byte[bytes]);
  }

  void flip(String file, long bit) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(directory.resolve(file).toFile(), "r")) {
      open.seek(bit / 8);
      overwrite(file, bit / 8, (byte) (open.read() ^ (1 << (bit % 8))));
    }
  }

  void truncate(String file, long size) throws IOException {
    try (FileChannel open = FileChannel.open(directory.resolve(file), StandardOpenOption.WRITE)) {
      open.truncate(size);
    }
    touched.add(new Touched(file, size, Long.MAX_VALUE));
  }

  void remove(String file) throws IOException {
    Files.delete(directory.resolve(file));
    touched.add(new Touched(file, 0, Long.MAX_VALUE));
  }

  int countFiles() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return (int) all.count();
    }
  }

  boolean isTouched() {
    return !touched.isEmpty();
  }

  /** Sequences of the records none of whose bytes were touched. */
  Set<Long> undamaged() {
    Set<Long> left = new TreeSet<>();
    places.forEach(place -> left.add(place.sequence()));
    for (Touched bytes : touched) {
      places.stream()
          .filter(p -> p.file().equals(bytes.file()))
          .filter(p -> p.offset() < bytes.to() && bytes.from() < p.end())
          .forEach(p -> left.remove(p.sequence()));
    }
    return left;
  }
}
