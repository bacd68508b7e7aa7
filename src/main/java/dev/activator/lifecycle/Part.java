package dev.activator.lifecycle;

/**
 * Something that is started and stopped.
 *
 * @param name for the log
 * @param start returns once it runs; throws if it cannot
 * @param stop ends it; called only if {@code start} returned
 */
public record Part(String name, Start start, Runnable stop) {
  /** One that needs no end. */
  public static Part started(String name, Start start) {
    return new Part(name, start, () -> {
    });
  }

  /** One that is started elsewhere. */
  public static Part stopped(String name, Runnable stop) {
    return new Part(name, () -> {
    }, stop);
  }

  /** A start that may fail. */
  @FunctionalInterface
  public interface Start {
    void run() throws Exception;
  }
}
