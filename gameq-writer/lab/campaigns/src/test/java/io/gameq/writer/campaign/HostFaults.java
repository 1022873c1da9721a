package io.gameq.writer.campaign;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Hosts whose clock is wrong from the start, or whose disk is full. Stateless. */
final class HostFaults {
  private static final long HOUR_MILLIS = 3_600_000;
  private static final int TMPFS_MEGABYTES = 24;

  private HostFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault(
            "node clock an hour ahead",
            1,
            (world, random) -> wrongClock(world, random, HOUR_MILLIS)),
        new Fault(
            "node clock an hour behind",
            1,
            (world, random) -> wrongClock(world, random, -HOUR_MILLIS)),
        new Fault("WAL on a full tmpfs", 1, HostFaults::fullDisk));
  }

  private static void wrongClock(World world, Random random, long offsetMillis)
      throws InterruptedException {
    NodeProcess node = world.node(random);
    node.restart(node.options().wal(), offsetMillis);
    TimeUnit.SECONDS.sleep(2);
    node.restart();
  }

  private static void fullDisk(World world, Random random) throws Exception {
    NodeProcess node = world.node(random);
    Path disk = Files.createDirectories(world.directory.resolve("disk"));
    int refused =
        run(
            "mount",
            "-t",
            "tmpfs",
            "-o",
            "size=" + TMPFS_MEGABYTES + "m",
            "tmpfs",
            disk.toString());
    Assumptions.assumeTrue(refused == 0, "skipped: needs the right to mount a tmpfs");
    try {
      node.restart(disk, 0);
      TimeUnit.SECONDS.sleep(2);
      fill(disk.resolve("filler"));
      TimeUnit.SECONDS.sleep(3);
      node.kill();
      Files.delete(disk.resolve("filler"));
      run("cp", "-r", "--sparse=always", disk + "/.", world.directory.resolve("wal").toString());
    } finally {
      node.kill();
      run("umount", disk.toString());
      node.restart();
    }
  }

  /** Writes until the disk is full. */
  private static void fill(Path file) {
    byte[] block = new byte[4096];
    try (var out = Files.newOutputStream(file)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      // no space left on device
    }
  }

  private static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
