package dev.activator.revision;

/** What the Kubernetes API answered when a lease was read or written. */
public sealed interface LeaseAnswer {
  /** The lease as it is now. */
  record Found(LeaseRecord lease) implements LeaseAnswer {}

  /** There is none. */
  record Absent() implements LeaseAnswer {}

  /** Another wrote it, or made it, first. */
  record Conflict() implements LeaseAnswer {}

  /**
   * No answer, or a refusal; a write may have arrived.
   *
   * @param message for people
   */
  record Failed(String message) implements LeaseAnswer {}
}
