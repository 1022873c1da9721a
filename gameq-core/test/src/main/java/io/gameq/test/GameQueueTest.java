package io.gameq.test;

import io.gameq.GameQueue;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The JUnit tests of a class get a game of their own each: empty tables, no messages. Tests and
 * methods before and after each may ask for these parameters:
 *
 * <ul>
 *   <li>{@link GameQueue}: a node; the second of a method is another node of the same game
 *   <li>{@link GameTime}: lets time go by until something is so
 *   <li>{@link MemoryServers}, {@link MemoryFaults}, {@link TestClock}: in memory only; on servers
 *       a test that asks for one is skipped
 * </ul>
 *
 * <p>Without {@link OnServers} the JUnit configuration parameter, or system property, {@code
 * gameq.test.servers} says where tests run: {@code memory}, the default, {@code testcontainers}, or
 * {@code redis://host:port jdbc:mysql://host:port}, with the user {@code gameq.test.user}, who may
 * create databases, and {@code gameq.test.password}. On servers each class has a database, a
 * namespace and a writer of its own, which are emptied before each test; its tests run one by one.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Execution(ExecutionMode.SAME_THREAD)
@ExtendWith(GameQueueExtension.class)
public @interface GameQueueTest {
  /**
   * The file with the CREATE TABLE statements: a resource beside the class, or from {@code /} on;
   * or else a path from the working directory.
   */
  String schema();

  /** The managed tables. */
  ManagedTable[] tables();

  /** What {@code tables} in gameq.yaml says of a table. */
  @interface ManagedTable {
    String name();

    /** The kind of the owner ids, as {@code player}. */
    String owner();

    /** The column that holds the key of the owner id. */
    String ownerColumn();
  }

  /**
   * Where servers are.
   *
   * @param redis as {@code redis://host:port}
   * @param mysql as {@code jdbc:mysql://host:port}, without a database
   * @param user may create databases
   */
  record ServerAddresses(String redis, String mysql, String user, String password) {
    @Override
    public String toString() {
      return "ServerAddresses[" + mysql + "]";
    }
  }

  /**
   * The tests of a class, or what it inherits of tests, run on these servers, whatever the
   * configuration parameter says.
   */
  @Documented
  @Inherited
  @Target(ElementType.TYPE)
  @Retention(RetentionPolicy.RUNTIME)
  @interface OnServers {
    Class<? extends Supplier<ServerAddresses>> value();
  }
}
