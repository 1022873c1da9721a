package io.gameq.lab.contender;

import java.util.List;

/**
 * A service that names contenders: a jar on the classpath that has some lists its implementation in
 * {@code META-INF/services}. Implementations have a public constructor without parameters.
 */
public interface ContenderSource {
  /** In the order in which they are measured. */
  List<ContenderType> contenders();
}
