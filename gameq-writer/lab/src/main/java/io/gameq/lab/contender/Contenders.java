package io.gameq.lab.contender;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** All contenders of the classpath. Stateless. */
public final class Contenders {
  private Contenders() {}

  /** In the order in which their jars and sources come. */
  public static List<ContenderType> all() {
    List<ContenderType> all = new ArrayList<>();
    for (ContenderSource source : ServiceLoader.load(ContenderSource.class)) {
      all.addAll(source.contenders());
    }
    return all;
  }

  /** Those that take part where none is named: all but limits and those on request. */
  public static List<String> byDefault() {
    return all().stream()
        .filter(type -> !type.is(ContenderType.Trait.LIMIT))
        .filter(type -> !type.is(ContenderType.Trait.ON_REQUEST))
        .map(ContenderType::name)
        .toList();
  }

  /** Throws {@link IllegalArgumentException} that lists the names. */
  public static ContenderType named(String name) {
    return find(name).orElseThrow(() -> new IllegalArgumentException(none(name)));
  }

  public static boolean has(String name) {
    return find(name).isPresent();
  }

  /** Says that there is none of this name, and which there are. */
  public static String none(String name) {
    return ("no contender '%s' here: there are %s; other libraries are in the jar that the profile"
            + " 'peers' builds")
        .formatted(name, all().stream().map(ContenderType::name).toList());
  }

  private static Optional<ContenderType> find(String name) {
    return all().stream().filter(type -> type.name().equals(name)).findFirst();
  }
}
