/**
 * The write-ahead log of a node: everything it committed, one fresh directory per process start.
 * Written through Chronicle Queue; read from the bytes, so that damage stops nothing. Internal.
 *
 * <pre>
 * walDirectory/NODE-START-PROCESS/   the WAL id (rwx------): yyyyMMddTHHmmssZ, 8 hex digits
 *   yyyyMMdd-HHmmss.cq4   records (rw-------): a new file after 64 MiB or 10 minutes; sparse, look
 *                         with du
 *   metadata.cq4t         Chronicle Queue's; not needed to read
 *   writer.lock           locked while the writer lives
 *   trimmed               the first sequence that was not deleted on purpose
 *   complete              last sequence and bytes: its node ended with everything in MySQL
 *   newest                a sequence that was written, noted every few seconds
 *
 * record = magic "GQW1" (4) | CRC-32C of what follows (4) | bytes of the body (4) | tag (4) |
 *          sequence (8) | body
 * tag    = the process; a row's blob that looks like a record is not believed
 * body   = 0 format version, WAL id, namespace, slots, node, start in Unix ms    a header
 *        | 4 table, fingerprint, columns            a column list that images name
 *        | 1 parts, part...   part = owner, session, rows, (row key, row image)...         a commit
 *        | 6 version, parts, part..., slots, (slot, changes, change...)...       one with messages
 *            change = 1 topic, id, due, keeps its time, cap, value       publish
 *                   | 2 topic, id, due                                   retime
 *                   | 3 topic, id                                        delete
 *                   | 4 topic, id, version, token, next due              ack
 *                   | 5 topic, id, version, token, next due, occurrence  of one that recurs
 *        | 2 sequence of the commit                       that commit failed: never replay it
 *        | 3 part                                         rows adopted when the session was opened
 *        | 5 sequence, body                               a commit or adopted rows, carried forward
 *
 * a file begins with a header and column lists (0, 4); a table that was altered gets one more 4
 *
 * WalDirectory   where WALs are, their files and permissions, who writes them, which may go
 * WalWriter      appends through Chronicle Queue, with room ahead of it; refuses records before the
 *                disk is full; sync
 *   WalRollCycle   names the files
 *   Retention      which files stay; carries forward what little is needed of old ones
 * WalReader      records in order, which are missing, and what hides them
 *   FileScan       intact records of one file, and what happened to the bytes between them
 * WalCodec       records to and from bytes
 * </pre>
 *
 * <p>Integers of the envelope are big-endian; in the body numbers are 7 bits a byte, lowest first,
 * and texts (UTF-8) and images are their length and their bytes. Sequences rise by one per record
 * of any kind, repeated headers and layouts included. A carried record has the body of the one that
 * it repeats, and the sequence that names that one: journal marks and marks of failed commits go on
 * meaning it, and a replay sends it in its old order; only where it is read has changed. A process
 * kill loses nothing written; power loss may lose what was not {@linkplain
 * io.gameq.wal.WalWriter#sync synced}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.wal;
