package dev.activator.embedded.api.store;

/** What becomes of an object that is created in a namespace that does not exist. */
public enum MissingNamespace {
  /** The namespace is made. */
  CREATED,
  /** The object is refused, as a cluster does. */
  REFUSED
}
