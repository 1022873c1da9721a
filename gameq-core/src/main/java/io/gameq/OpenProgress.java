package io.gameq;

/**
 * How far {@link GameQueue#openAll} is.
 *
 * @param newest the owner that came last
 * @param open how many are open, the newest counted
 * @param failed how many have failed
 * @param all how many there are
 */
public record OpenProgress(OpenResult newest, int open, int failed, int all) {}
