package io.gameq.writer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Who may touch what; over gameq-core and gameq-writer. gameq-recovery has its own. */
class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.gameq");

  @Test
  void onlyRedisPackagesTouchTheRedisClient() {
    noClasses()
        .that()
        .resideOutsideOfPackages("..redis..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.lettuce..")
        .check(CLASSES);
  }

  @Test
  void onlyMysqlPackagesTouchJdbc() {
    noClasses()
        .that()
        .resideOutsideOfPackages("..mysql..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.sql..", "com.mysql..")
        .check(CLASSES);
  }

  @Test
  void onlyTheWalTouchesChronicle() {
    noClasses()
        .that()
        .resideOutsideOfPackages("..wal..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("net.openhft..")
        .check(CLASSES);
  }

  @Test
  void coreKnowsNeitherWriterNorRecovery() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.gameq.writer..", "io.gameq.recovery..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.gameq.writer..", "io.gameq.recovery..")
        .check(CLASSES);
  }

  @Test
  void writerDoesNotKnowRecovery() {
    noClasses()
        .that()
        .resideInAPackage("io.gameq.writer..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.gameq.recovery..")
        .check(CLASSES);
  }

  @Test
  void theCatalogueAndTheCommitKnowNoServer() {
    noClasses()
        .that()
        .resideInAnyPackage("io.gameq.catalog..", "io.gameq.commit..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("..redis..", "..mysql..", "..wal..")
        .check(CLASSES);
  }

  @Test
  void packagesHaveNoCycles() {
    slices()
        .matching("io.gameq.(redis|mysql|wal|commit|catalog|embedded)..")
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
  }
}
