package dev.activator.lifecycle;

/**
 * A part of the process that is started and stopped.
 *
 * @param stop called only if {@code start} returned
 */
public record Part(String name, Start start, Runnable stop) {
  public static Part started(String name, Start start) {
    return new Part(name, start, () -> {
    });
  }

  public static Part stopped(String name, Runnable stop) {
    return new Part(name, () -> {
    }, stop);
  }

  @FunctionalInterface
  public interface Start {
    void run() throws Exception;
  }
}
