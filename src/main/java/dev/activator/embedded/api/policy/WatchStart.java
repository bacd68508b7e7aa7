package dev.activator.embedded.api.policy;

/** Where a watch begins. */
public sealed interface WatchStart {
  /** With all objects as added, then what follows. */
  record Snapshot(Freshness freshness) implements WatchStart {}

  /** With the first event after this revision. */
  record After(long revision) implements WatchStart {}

  /** With what comes after now, as old as the server's "now" may be. */
  record Now(Freshness freshness) implements WatchStart {}
}
