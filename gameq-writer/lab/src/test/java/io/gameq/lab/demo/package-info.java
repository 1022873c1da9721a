/** The demo on the test servers. */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.demo;
