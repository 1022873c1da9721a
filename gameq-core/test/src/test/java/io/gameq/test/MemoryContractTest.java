package io.gameq.test;

/** The contract in memory, or on the servers that {@code gameq.test.servers} names. */
class MemoryContractTest extends GameContract {}
