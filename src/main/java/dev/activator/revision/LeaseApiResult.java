package dev.activator.revision;

/** The result of a read or write of a Kubernetes Lease, used for leader election. */
public sealed interface LeaseApiResult {
  /** The lease as it is now. */
  record Found(LeaseRecord lease) implements LeaseApiResult {}

  /** There is none. */
  record Absent() implements LeaseApiResult {}

  /** Another wrote it, or made it, first. */
  record Conflict() implements LeaseApiResult {}

  /**
   * No answer, or a refusal; a write may have arrived.
   *
   * @param message for people
   */
  record Failed(String message) implements LeaseApiResult {}
}
