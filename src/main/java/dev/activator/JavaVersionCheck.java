package dev.activator;

import org.jspecify.annotations.Nullable;

/**
 * The first class of the jar: starts the activator, or says which Java it needs. In the jar it is compiled for an older
 * Java, which could not read any other class of ours.
 */
public final class JavaVersionCheck {
  private static final int MIN_JAVA = 25;

  private JavaVersionCheck() {}

  public static void main(String[] args) {
    var problem = problem(Runtime.version().feature(), System.getProperty("java.home"));
    if (problem != null) {
      System.err.println(problem);
      System.exit(1);
    }
    ActivatorApplication.main(args);
  }

  /** The error message; null if this Java is new enough. */
  static @Nullable String problem(int feature, String home) {
    return feature >= MIN_JAVA
        ? null
        : "Cannot start: this is Java " + feature + " (" + home + "), and the activator needs Java "
            + MIN_JAVA + " or later.";
  }
}
