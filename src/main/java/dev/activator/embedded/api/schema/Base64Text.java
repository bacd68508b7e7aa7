package dev.activator.embedded.api.schema;

/**
 * The check of base64 texts, with the position of the first error.
 *
 * <p><b>Source.</b> {@code decodeQuantum} of Go's {@code encoding/base64}, whose positions clients
 * see.
 */
final class Base64Text {
  private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
      + "0123456789+/";
  private static final int QUANTUM = 4;

  private Base64Text() {}

  /** -1 if it is base64. Line ends are ignored. */
  static int malformedAt(String text) {
    int digits = 0;
    int padding = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\r' || c == '\n') {
        continue;
      }
      boolean pads = c == '=' && digits >= 2 && digits + padding < QUANTUM;
      if (pads) {
        padding++;
      } else if (padding > 0 || ALPHABET.indexOf(c) < 0) {
        return i;
      } else {
        digits = digits % QUANTUM + 1;
      }
    }
    boolean whole = digits % QUANTUM == 0 || digits + padding == QUANTUM;
    return whole ? -1 : text.length() - (padding > 0 ? 0 : digits);
  }
}
