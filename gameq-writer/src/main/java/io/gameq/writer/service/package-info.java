/** The running service. */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.service;
