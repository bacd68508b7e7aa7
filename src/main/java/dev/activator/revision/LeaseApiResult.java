package dev.activator.revision;

/** The result of a read or write of a Kubernetes Lease, used for leader election. */
public sealed interface LeaseApiResult {
  /** The lease as it is now. */
  record Found(LeaseRecord lease) implements LeaseApiResult {}

  /** The lease does not exist. */
  record Absent() implements LeaseApiResult {}

  /** Another client has written or created the lease first. */
  record Conflict() implements LeaseApiResult {}

  /**
   * The API did not answer, or refused. A write may have taken effect.
   *
   * @param message for people
   */
  record Failed(String message) implements LeaseApiResult {}
}
