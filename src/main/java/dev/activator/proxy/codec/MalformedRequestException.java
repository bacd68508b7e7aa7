package dev.activator.proxy.codec;

/**
 * Reports bytes that are not a request, or that another reader could take for two requests. Its
 * message may be sent to the caller.
 */
public final class MalformedRequestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception without a stack trace, because callers can cause it as often as they like.
   */
  MalformedRequestException(String what) {
    super(what, null, false, false);
  }

  /**
   * The message if it may be sent to the caller, or else {@code otherwise}: the texts of other
   * exceptions may not be.
   */
  public static String text(Throwable cause, String otherwise) {
    return cause instanceof MalformedRequestException malformed
        ? String.valueOf(malformed.getMessage())
        : otherwise;
  }
}
