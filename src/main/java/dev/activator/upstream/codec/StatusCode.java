package dev.activator.upstream.codec;

import org.jspecify.annotations.Nullable;

/**
 * The status code of a response, as it must be written: three digits, the first of them no zero.
 *
 * <p>
 * <b>Source.</b> RFC 9110, section 15.
 */
final class StatusCode {
  /** What stands for none. */
  static final int NONE = -1;

  private static final int DIGITS = 3;

  private StatusCode() {}

  /** The code; {@link #NONE} if this is not one. */
  static int parse(@Nullable CharSequence text) {
    if (text == null || text.length() != DIGITS || text.charAt(0) == '0') {
      return NONE;
    }
    int code = 0;
    for (int i = 0; i < DIGITS; i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return NONE;
      }
      code = 10 * code + (c - '0');
    }
    return code;
  }
}
