package io.gameq.writer.doctor;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.Symptom;
import io.gameq.redis.script.Symptom.Thing;

/** Something that was found wrong. Immutable; the same twice when nobody has touched it since. */
public record DoctorFinding(Ailment ailment, Symptom symptom) {
  static DoctorFinding of(Symptom symptom) {
    return new DoctorFinding(Ailment.of(symptom.kind()), symptom);
  }

  public Thing thing() {
    return symptom.thing();
  }

  /** The process of a session or journal mark, 8 hex digits. */
  String process() {
    return ailment == Ailment.OPEN
        ? NodeSigns.process(SessionId.parse(symptom.state()))
        : NodeSigns.processOfWal(thing().name());
  }

  /** The owner that it is about, where its name is one. */
  OwnerId owner() {
    return OwnerId.ofEncoded(thing().name());
  }

  /** Where it is, and what is there, for a person. */
  public String where() {
    return switch (ailment) {
      case WRONG_TYPE, THERE -> thing() + " (" + symptom.state() + ")";
      case OPEN -> thing() + " (process " + process() + ")";
      default -> thing().toString();
    };
  }
}
