package io.gameq.writer.campaign;

import static org.junit.jupiter.api.Assumptions.abort;

import io.gameq.servers.ChildJvm.Build;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The build of the release before, made from its commit: {@code release-before} of this module
 * names it. Its classes are under {@code target/before}, and are kept for the next run.
 */
final class ReleaseBefore {
  private static final Path MODULE = Path.of("").toAbsolutePath();
  private static final Path ROOT = MODULE.resolve("../../..").normalize();

  private ReleaseBefore() {}

  /** Its commit. */
  static String commit() throws IOException {
    return System.getProperty(
        "gameq.campaign.before", Files.readString(MODULE.resolve("release-before")).strip());
  }

  /** Builds it; skips the test where the history is not there. */
  static Build build() throws Exception {
    String commit = commit();
    Path tree = MODULE.resolve("target/before").resolve(commit);
    Path built = tree.resolve(ROOT.relativize(MODULE)).resolve("target");
    Path classPath = built.resolve("class-path");
    if (!Files.exists(classPath)) {
      Files.createDirectories(tree);
      if (!run(ROOT, "git", "cat-file", "-e", commit + "^{commit}")) {
        String why = "SKIPPED: upgrade campaign: commit %s is not in the history here";
        System.out.println(why.formatted(commit));
        abort(why.formatted(commit));
      }
      long began = System.nanoTime();
      require(run(ROOT, "git", "archive", "--output", tree.resolve("tar").toString(), commit));
      require(run(tree, "tar", "-xf", "tar"));
      require(
          run(
              tree,
              "mvn",
              "-q",
              "-B",
              "-ntp",
              "-Dquick",
              "-DskipTests",
              "-Dmdep.outputFile=target/class-path",
              "test-compile",
              "dependency:build-classpath",
              "-pl",
              ROOT.relativize(MODULE).toString(),
              "-am"));
      System.out.printf("built %s in %.0f s%n", commit, (System.nanoTime() - began) / 1e9);
    }
    return new Build(
        built.resolve("test-classes") + File.pathSeparator + Files.readString(classPath).strip(),
        List.of());
  }

  private static boolean run(Path in, String... command) throws Exception {
    return new ProcessBuilder(command).directory(in.toFile()).inheritIO().start().waitFor() == 0;
  }

  private static void require(boolean succeeded) {
    if (!succeeded) {
      throw new IllegalStateException("the release before cannot be built: see above");
    }
  }
}
