package dev.activator.embedded.api.cache;

/** The caller's hold on a watch. Any thread may call. */
public interface Watch {
  /** The outlet can take more. */
  void resume();

  /** The client is gone: nothing more is sent, and nothing of the watch is kept. */
  void cancel();
}
