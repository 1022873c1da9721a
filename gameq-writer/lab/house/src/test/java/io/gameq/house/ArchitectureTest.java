package io.gameq.house;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** How the house is built: over all production classes of all modules, without exceptions. */
class ArchitectureTest {
  static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.gameq");

  /** What games use: one layer, whose packages know each other. */
  private static final Set<String> API = Set.of("io.gameq", "io.gameq.config", "io.gameq.topic");

  /** The packages of gameq-core from the bottom up: each knows only those before it. */
  private static final List<String> LAYERS =
      List.of(
          "io.gameq",
          "io.gameq.config",
          "io.gameq.topic",
          "io.gameq.sign",
          "io.gameq.agent",
          "io.gameq.owner",
          "io.gameq.term",
          "io.gameq.records",
          "io.gameq.rows.types",
          "io.gameq.rows",
          "io.gameq.message",
          "io.gameq.change",
          "io.gameq.terminal",
          "io.gameq.tls",
          "io.gameq.rights",
          "io.gameq.wal",
          "io.gameq.redis",
          "io.gameq.redis.script",
          "io.gameq.redis.topic",
          "io.gameq.backlog",
          "io.gameq.mysql",
          "io.gameq.mysql.schema",
          "io.gameq.mysql.tables",
          "io.gameq.mysql.flush",
          "io.gameq.view",
          "io.gameq.durability",
          "io.gameq.healing",
          "io.gameq.commit",
          "io.gameq.subscription",
          "io.gameq.node",
          "io.gameq.metrics");

  @Test
  void allModulesAreLookedAt() {
    for (String name :
        List.of(
            "io.gameq.GameQueue",
            "io.gameq.writer.WriterMain",
            "io.gameq.recovery.RecoveryMain",
            "io.gameq.spring.GameQueueAutoConfiguration",
            "io.gameq.example.ExampleGame",
            "io.gameq.lab.LabMain",
            "io.gameq.lab.servers.EmbeddedRedis")) {
      assertTrue(CLASSES.contain(name), name);
    }
  }

  @Test
  void packagesHaveNoCycles() {
    SlicesRuleDefinition.slices()
        .assignedFrom(
            new SliceAssignment() {
              @Override
              public SliceIdentifier getIdentifierOf(JavaClass of) {
                String name = of.getPackageName();
                return SliceIdentifier.of(API.contains(name) ? "the API" : name);
              }

              @Override
              public String getDescription() {
                return "packages";
              }
            })
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
  }

  @Test
  void packagesOfTheCoreKnowOnlyThoseBelowThem() {
    TreeSet<String> unknown =
        CLASSES.stream()
            .map(JavaClass::getPackageName)
            .filter(
                name ->
                    !name.matches("io\\.gameq\\.(writer|recovery|lab|spring|example|test)(\\..*)?"))
            .filter(name -> !LAYERS.contains(name))
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(new TreeSet<>(), unknown, "packages without a layer");
    for (int i = 0; i < LAYERS.size() - 1; i++) {
      if (API.contains(LAYERS.get(i + 1))) {
        continue;
      }
      noClasses()
          .that()
          .resideInAPackage(LAYERS.get(i))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(LAYERS.subList(i + 1, LAYERS.size()).toArray(String[]::new))
          .allowEmptyShould(true)
          .check(CLASSES);
    }
  }

  @Test
  void theCoreKnowsNeitherWriterNorRecovery() {
    noClasses()
        .that()
        .resideInAnyPackage(LAYERS.toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.gameq.writer..",
            "io.gameq.recovery..",
            "io.gameq.lab..",
            "io.gameq.spring..",
            "io.gameq.example..")
        .check(CLASSES);
  }

  /** What the example shows, every game can do. */
  @Test
  void theExampleKnowsTheApiAlone() {
    noClasses()
        .that()
        .resideInAPackage("io.gameq.example..")
        .should()
        .dependOnClassesThat(
            JavaClass.Predicates.resideInAPackage("io.gameq..")
                .and(
                    DescribedPredicate.not(
                        JavaClass.Predicates.resideInAnyPackage(
                            "io.gameq",
                            "io.gameq.config",
                            "io.gameq.topic",
                            "io.gameq.example.."))))
        .check(CLASSES);
  }

  @Test
  void writerAndRecoveryDoNotKnowEachOther() {
    noClasses()
        .that()
        .resideInAPackage("io.gameq.writer..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.gameq.recovery..")
        .check(CLASSES);
    noClasses()
        .that()
        .resideInAPackage("io.gameq.recovery..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.gameq.writer..")
        .check(CLASSES);
  }

  @Test
  void theProductDoesNotReachTheLaboratory() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.gameq.lab..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.gameq.lab..")
        .check(CLASSES);
  }

  @Test
  void onlyRedisPackagesTouchTheRedisClient() {
    noClasses()
        .that()
        .resideOutsideOfPackage("..redis..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.lettuce..", "io.netty..", "reactor..")
        .check(CLASSES);
  }

  @Test
  void onlyMysqlPackagesTouchJdbc() {
    noClasses()
        .that()
        .resideOutsideOfPackage("..mysql..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "java.sql..", "javax.sql..", "org.jdbi..", "com.zaxxer..", "com.mysql..")
        .check(CLASSES);
  }

  @Test
  void onlyTheWalTouchesChronicle() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.gameq.wal")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("net.openhft..")
        .check(CLASSES);
  }

  /** A game without Micrometer on its class path loads nothing that names it. */
  @Test
  void onlyTheMetersOfTheCoreTouchMicrometer() {
    noClasses()
        .that()
        .resideInAnyPackage(LAYERS.toArray(String[]::new))
        .and()
        .resideOutsideOfPackage("io.gameq.metrics")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.micrometer..", "io.gameq.metrics")
        .check(CLASSES);
  }

  @Test
  void theApiShowsNothingInternal() {
    ArchRuleDefinition.members()
        .that()
        .areDeclaredInClassesThat(
            new DescribedPredicate<JavaClass>("are of the API") {
              @Override
              public boolean test(JavaClass of) {
                return API.contains(of.getPackageName()) && isPublic(of);
              }
            })
        .should(
            new ArchCondition<JavaMember>("have only types of the API and of the JDK") {
              @Override
              public void check(JavaMember member, ConditionEvents events) {
                if (member.getModifiers().contains(JavaModifier.PRIVATE)) {
                  return;
                }
                member
                    .getAllInvolvedRawTypes()
                    .forEach(
                        type -> {
                          JavaClass base = type.getBaseComponentType();
                          boolean fits =
                              base.isPrimitive()
                                  || base.getPackageName().startsWith("java.")
                                  || API.contains(base.getPackageName());
                          events.add(
                              new SimpleConditionEvent(
                                  member, fits, member.getFullName() + " has " + base.getName()));
                        });
              }
            })
        .check(CLASSES);
  }

  private static boolean isPublic(JavaClass of) {
    return of.getModifiers().contains(JavaModifier.PUBLIC);
  }

  @Test
  void theApiKnowsNothingInternal() {
    for (JavaClass of : CLASSES) {
      if (API.contains(of.getPackageName())) {
        for (Dependency dependency : of.getDirectDependenciesFromSelf()) {
          String target = dependency.getTargetClass().getBaseComponentType().getPackageName();
          assertTrue(
              API.contains(target)
                  || (!target.startsWith("io.gameq.") && !target.startsWith("io.lettuce")),
              dependency::getDescription);
        }
      }
    }
  }

  @Test
  void noTwoClassesHaveOneName() {
    Map<String, TreeSet<String>> byName = new TreeMap<>();
    CLASSES.stream()
        .filter(of -> !of.getName().contains("$") && !of.getSimpleName().equals("package-info"))
        .forEach(
            of ->
                byName
                    .computeIfAbsent(of.getSimpleName(), name -> new TreeSet<>())
                    .add(of.getName()));
    byName.values().removeIf(names -> names.size() == 1);
    assertEquals(Map.of(), byName);
  }

  @Test
  void threadsAreMadeInOnePlace() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.gameq.agent", "io.gameq.lab..")
        .should()
        .callConstructorWhere(
            DescribedPredicate.describe(
                "makes a thread or a pool of threads",
                call ->
                    call.getTargetOwner().isAssignableTo(Thread.class)
                        || call.getTargetOwner().isAssignableTo(ExecutorService.class)
                        || call.getTargetOwner().isAssignableTo(Timer.class)))
        .orShould()
        .callMethodWhere(
            DescribedPredicate.describe(
                "has an executor made",
                call -> call.getTargetOwner().isAssignableTo(Executors.class)))
        .check(CLASSES);
  }
}
