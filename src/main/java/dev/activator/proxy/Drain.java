package dev.activator.proxy;

/** Told to a connection that should end once it has nothing to do. */
enum Drain {
  NOW
}
