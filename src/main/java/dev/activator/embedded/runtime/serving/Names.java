package dev.activator.embedded.runtime.serving;

import dev.activator.revision.ChildName;

/** What the objects of a Service are called. */
public final class Names {
  private Names() {}

  /** {@code hello-00001} for the first of {@code hello}. */
  public static String revision(String service, int number) {
    return ChildName.of(service, "-%05d".formatted(number));
  }

  public static String deployment(String revision) {
    return ChildName.of(revision, "-deployment");
  }
}
