package dev.activator.cluster;

/** The API of the cluster cannot be used; the message says in one line where, and what is wrong. */
public final class ClusterUnavailableException extends RuntimeException {
  public ClusterUnavailableException(String message) {
    super(message);
  }
}
