/**
 * {@code gameq-writer doctor}: what does not fit together in Redis, and its repair. The console
 * shows the same.
 *
 * <pre>
 * DoctorCommand
 *   Doctor       looks at all keys and entries, twice -&gt; Diagnosis: Symptoms by Ailment;
 *                mends what comes about without a hand in Redis
 * ReslotCommand
 *   SlotChange   gives a drained namespace another number of slots
 * </pre>
 *
 * <p>Why it is safe while all others work: one script judges a thing, and sees all that it needs at
 * one moment. What was judged ill twice in the same state is mended by a script that judges once
 * more. A repair deletes no row, and gives rows to the session that owns by MySQL alone.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.doctor;
