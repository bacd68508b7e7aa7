package dev.activator.testing;

/**
 * Runs a scenario by each seed in one test, so that a block of seeds is set up and checked once. A build
 * runs {@value #DEFAULT_COUNT}, {@code mvn -Plong} a thousand, and {@code -Dseed=17} that seed alone.
 */
public final class Seeds {
  static final int DEFAULT_COUNT = 60;
  private static final long COUNT = Long.getLong("seeds", DEFAULT_COUNT);
  private static final Long ALONE = Long.getLong("seed");

  private Seeds() {}

  /** A scenario begins with new objects: most call a method of a new instance of the test. */
  public interface Scenario {
    void run(long seed) throws Exception;
  }

  /** Fails at the first seed whose scenario fails, and names it. */
  public static void each(Scenario scenario) {
    if (ALONE != null) {
      run(scenario, ALONE);
      return;
    }
    for (long seed = 0; seed < COUNT; seed++) {
      run(scenario, seed);
    }
  }

  private static void run(Scenario scenario, long seed) {
    try {
      scenario.run(seed);
    } catch (AssertionError | Exception e) {
      throw new AssertionError("seed " + seed + " (-Dseed=" + seed + "): " + e.getMessage(), e);
    }
  }
}
