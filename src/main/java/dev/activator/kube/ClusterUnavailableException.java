package dev.activator.kube;

/** The API of the cluster cannot be used. The message names the problem in one line. */
public final class ClusterUnavailableException extends RuntimeException {
  public ClusterUnavailableException(String message) {
    super(message);
  }
}
