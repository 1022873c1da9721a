package io.gameq.recovery;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  @Test
  void recoveryDoesNotKnowTheWriter() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.gameq.writer..")
        .check(
            new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.gameq.recovery"));
  }
}
