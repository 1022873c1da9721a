package io.gameq.writer.explorer;

/** What an ack tells a session's node: all up to this version is in MySQL. */
record Notice(String owner, String session, long version) {}
