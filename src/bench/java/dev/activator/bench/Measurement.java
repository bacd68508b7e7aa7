package dev.activator.bench;

import java.util.concurrent.Callable;

/**
 * What the main method of a benchmark or drill does. Its pods, APIs and clusters have threads that
 * would outlive a failure, and keep the activators alive.
 */
public interface Measurement {
  void run() throws Exception;

  /** Runs it and ends the process: with 1 and the reason if it failed. */
  static void runAndExit(Measurement measurement) {
    exitAfter(() -> {
      measurement.run();
      return 0;
    }, 1);
  }

  /** Runs a drill and ends the process: with 1 if it was not passed, or 2 and the reason if it failed. */
  static void checkAndExit(Callable<Boolean> drill) {
    exitAfter(() -> drill.call() ? 0 : 1, 2);
  }

  private static void exitAfter(Callable<Integer> all, int ofFailure) {
    int code = ofFailure;
    try {
      code = all.call();
    } catch (Exception failure) {
      failure.printStackTrace();
    }
    System.exit(code);
  }
}
