package io.gameq.writer.doctor;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * All that was found. Immutable.
 *
 * @param findings by ailment, in the order in which they are mended; at most {@link #MOST} of each
 * @param isCut whether there are more
 */
public record Diagnosis(List<DoctorFinding> findings, boolean isCut) {
  /** Of each ailment: what is left comes with the next look. */
  public static final int MOST = 5_000;

  public Diagnosis {
    findings = List.copyOf(findings);
  }

  public Map<Ailment, List<DoctorFinding>> byAilment() {
    Map<Ailment, List<DoctorFinding>> all = new EnumMap<>(Ailment.class);
    for (Ailment ailment : Ailment.values()) {
      List<DoctorFinding> some = findings.stream().filter(of -> of.ailment() == ailment).toList();
      if (!some.isEmpty()) {
        all.put(ailment, some);
      }
    }
    return all;
  }
}
