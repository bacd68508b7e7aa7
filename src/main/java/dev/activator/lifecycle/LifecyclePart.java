package dev.activator.lifecycle;

/**
 * A part of the process that is started and stopped.
 *
 * @param stop called only if {@code start} has returned without an exception
 */
public record LifecyclePart(String name, Start start, Runnable stop) {
  public static LifecyclePart started(String name, Start start) {
    return new LifecyclePart(name, start, () -> {
    });
  }

  public static LifecyclePart stopped(String name, Runnable stop) {
    return new LifecyclePart(name, () -> {
    }, stop);
  }

  @FunctionalInterface
  public interface Start {
    void run() throws Exception;
  }
}
