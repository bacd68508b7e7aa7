package dev.activator.kube.reflector;

/** There are no credentials for the API, so no request is sent. The message is one line, for operators. */
public final class CredentialsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CredentialsException(String message) {
    super(message);
  }
}
