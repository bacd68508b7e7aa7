package dev.activator.proxy.connection;

/** Told to a connection that should end. */
public enum Drain {
  /** Soon: its caller should hear of it before. */
  SOON,
  /** Once it has nothing to do. */
  NOW
}
