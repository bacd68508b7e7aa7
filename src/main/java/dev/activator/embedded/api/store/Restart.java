package dev.activator.embedded.api.store;

/** What a server knows after a restart. */
public enum Restart {
  /** All objects as they were; revisions go on far above where they were. */
  SAME_DATA,
  /** No objects; revisions go on far above where they were. */
  EMPTY,
  /** All objects, with revisions from 1: no right server does this, and clients cannot tell. */
  LOWER_REVISIONS
}
