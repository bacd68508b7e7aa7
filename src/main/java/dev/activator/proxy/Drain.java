package dev.activator.proxy;

/** Told to a connection that should end. */
enum Drain {
  /** Soon: its caller should hear of it before. */
  SOON,
  /** Once it has nothing to do. */
  NOW
}
