/**
 * {@code gameq-writer doctor} finds contradictions in Redis and repairs them. The console shows the
 * same.
 *
 * <pre>
 * DoctorCommand
 *   Doctor       looks at all keys and entries, twice -&gt; Diagnosis: Findings by FindingKind;
 *                repairs the kinds that come about without a hand in Redis
 * ReslotCommand
 *   SlotChange   gives a drained namespace another number of slots
 * </pre>
 *
 * <p>It is safe while nodes and writers work: one script judges an entry and sees all that it needs
 * at one moment. When an entry was wrong twice in the same state, another script judges it once
 * more and repairs it. A repair deletes no row. It gives rows only to the session that MySQL has as
 * the owner's.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.doctor;
