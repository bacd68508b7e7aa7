package dev.activator.embedded.api.policy;

/** How new the state must be that a read sees. */
public sealed interface Freshness {
  /** Whatever is at hand. */
  record Whatever() implements Freshness {}

  /** As new as the newest write there was when the read came. */
  record Newest() implements Freshness {}

  /** At least as new as this. */
  record AtLeast(long revision) implements Freshness {}

  /** As it was at this revision. */
  record Exactly(long revision) implements Freshness {}
}
