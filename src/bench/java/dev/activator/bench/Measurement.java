package dev.activator.bench;

/** What the main method of a benchmark does. Its pods and APIs have threads that would outlive a failure. */
public interface Measurement {
  void run() throws Exception;

  /** Runs it and ends the process: with 1 and the reason if it failed. */
  static void runAndExit(Measurement measurement) {
    try {
      measurement.run();
      System.exit(0);
    } catch (Exception failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }
}
