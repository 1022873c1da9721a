package io.gameq.recovery;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.gameq.recovery");

  @Test
  void onlyTheRedisPackageTouchesTheRedisClient() {
    noClasses()
        .that()
        .resideOutsideOfPackage("..redis..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.lettuce..")
        .check(CLASSES);
  }

  @Test
  void onlyTheMysqlPackageTouchesJdbc() {
    noClasses()
        .that()
        .resideOutsideOfPackage("..mysql..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.sql..", "org.jdbi..", "com.zaxxer..")
        .check(CLASSES);
  }

  @Test
  void recoveryDoesNotKnowTheWriter() {
    noClasses().should().dependOnClassesThat().resideInAPackage("io.gameq.writer..").check(CLASSES);
  }
}
