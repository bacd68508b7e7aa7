package dev.activator.cluster;

/** The Kubernetes API cannot be used. The message is one line: where, and what was wrong. */
public final class ClusterUnavailableException extends RuntimeException {
  public ClusterUnavailableException(String message) {
    super(message);
  }
}
