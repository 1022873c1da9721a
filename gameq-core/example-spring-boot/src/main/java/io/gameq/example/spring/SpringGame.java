package io.gameq.example.spring;

import io.gameq.GameQueue;
import io.gameq.example.ExampleGame;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;

/** A node of the example game in Spring Boot. */
@SpringBootApplication
public class SpringGame {
  /** Starts it; SIGTERM stops it, once everybody is logged out and everything is in MySQL. */
  public static void main(String[] args) {
    SpringApplication.run(SpringGame.class, args);
  }

  /** Logs everybody out when the context closes: the queue is stopped afterwards. */
  @Bean(destroyMethod = "")
  ExampleGame game(GameQueue queue) {
    return new ExampleGame(queue);
  }

  @Bean
  SmartLifecycle logouts(ExampleGame game) {
    return new Logouts(game);
  }
}
