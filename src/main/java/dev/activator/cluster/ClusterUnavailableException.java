package dev.activator.cluster;

/** The message is one line that says where and what is wrong. */
public final class ClusterUnavailableException extends RuntimeException {
  public ClusterUnavailableException(String message) {
    super(message);
  }
}
