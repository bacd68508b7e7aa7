package dev.activator.stats;

/** Hears when the autoscaler can be reached and when not, on the link's loop. */
public interface LinkListener {
  void connected();

  /** An open connection broke, or was closed by the other side. */
  void lost();

  /** An attempt to connect failed, or an open connection broke. */
  default void failed() {}
}
