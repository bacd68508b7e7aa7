package dev.activator.embedded.api.cache;

/** The caller's hold on a read that may have to wait. Any thread may call. */
public interface Reading {
  /** Nobody wants the answer any more: none is given, and nothing of the read is kept. */
  void cancel();
}
