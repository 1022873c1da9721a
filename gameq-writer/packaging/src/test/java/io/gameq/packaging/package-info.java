/**
 * What an operator unpacks is tried as an operator would, from the archive alone.
 *
 * <pre>
 * ArchiveTest       libraries, launchers, and a writer until SIGTERM
 * UnitFileTest      the systemd unit, by systemd's own tool where it is installed
 *   Archive         the archive, unpacked, and command lines in it
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.packaging;
