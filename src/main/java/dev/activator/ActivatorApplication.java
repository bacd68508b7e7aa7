package dev.activator;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts the activator. */
@SpringBootApplication
public class ActivatorApplication {
  public static void main(String[] args) {
    SpringApplication.run(ActivatorApplication.class, args);
  }
}
