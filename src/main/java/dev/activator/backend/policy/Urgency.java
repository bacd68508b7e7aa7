package dev.activator.backend.policy;

/** How much a probe matters, where not all can be sent at once. */
public enum Urgency {
  /** There is news of the address: it is listed, called ready, or under suspicion. */
  FIRST,
  /** It failed, and may be starting. */
  STARTING,
  /** It has failed for long. */
  LASTING
}
