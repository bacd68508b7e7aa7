package dev.activator.proxy.hostile;

/** What a caller has seen of a response in the end. */
enum Outcome {
  /** The pod's, whole. */
  COMPLETE,
  /** The pod's, and that it is not whole. */
  BROKEN_OFF,
  /** The activator's own. */
  REFUSED,
  /** None, and an end of the stream or connection. */
  UNANSWERED,
  /** None, or the beginning of one, and nothing says that no more comes. */
  OPEN
}
