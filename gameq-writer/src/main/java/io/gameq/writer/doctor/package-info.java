/**
 * {@code gameq-writer doctor}: what does not fit together in Redis, and its repair. The console
 * shows the same.
 *
 * <pre>
 * DoctorCommand
 *   Doctor       looks at all keys and entries, twice -&gt; Diagnosis
 *                  DoctorFinding   an Ailment of a thing
 *   Repair       mends what can be, and looks again   -&gt; Repaired
 *   DoctorPage   prints
 * </pre>
 *
 * <p>Why it is safe while all others work: a thing is judged by one script, which sees all that the
 * judgement needs at one moment; what was judged ill twice in the same state, tokens included, is
 * mended by a script that judges once more before it changes anything. A repair deletes no row
 * (rule 1), merges by version (2, 3), and gives rows to no other session than the one that owns by
 * Redis, or, where Redis does not know, by MySQL, whom each flush asks once more (4); what readers
 * see it takes away nowhere (5), and a hash is moved as a whole (6).
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.doctor;
