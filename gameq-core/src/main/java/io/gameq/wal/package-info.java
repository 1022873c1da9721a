/**
 * The write-ahead log of a node: a Chronicle Queue of everything it committed, one fresh directory
 * per process start. Internal.
 *
 * <pre>
 * &lt;wal directory&gt;/&lt;node&gt;-&lt;start, yyyyMMddTHHmmssZ&gt;-&lt;process, 8 hex digits&gt;/   (the WAL id; owner-only permissions)
 *   *.cq4                      roll cycle FAST_HOURLY, block size 64 MiB (files are sparse)
 *
 * record    = magic "GQW1" (4 bytes) | CRC-32C of what follows (4) | sequence (8) | MessagePack array
 * array     = [0, format version 1, WAL id, namespace, slots, node, start in Unix ms]    header, always sequence 1
 *           | [1, part...]  part = [owner, session, [row key, row image, row key, row image ...]]   commit
 *           | [2, sequence of the commit]                      that commit failed: never replay it
 *           | [3, owner, session, [row key, row image ...]]    rows adopted when the session was opened
 *           | [4, table, fingerprint, columns]                 a column list that row images refer to
 * </pre>
 *
 * <p>Integers of the envelope are big-endian. Sequences rise by one per record of any kind. A
 * process kill loses nothing written; power loss may lose the newest records, since nothing is
 * synced to disk.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.wal;
