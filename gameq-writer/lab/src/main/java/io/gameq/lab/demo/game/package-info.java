/** What the demo plays: a game, and how its players act. */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.demo.game;
