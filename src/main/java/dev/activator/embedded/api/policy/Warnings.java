package dev.activator.embedded.api.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * Values of the header {@code Warning}, which kubectl prints and other clients log.
 *
 * <p><b>Source.</b> {@code endpoints/filters/warning.go} in Kubernetes' apiserver, whose limits these
 * are.
 */
public final class Warnings {
  private static final int MAX_LENGTH = 256;
  private static final int MAX_TOTAL_LENGTH = 4 * 1024;

  private Warnings() {}

  /** Shortens long texts if all together are too long, and then leaves out the last. */
  public static List<String> headers(List<String> texts) {
    var distinct = texts.stream().distinct().toList();
    boolean shorten = distinct.stream().mapToInt(String::length).sum() > MAX_TOTAL_LENGTH;
    var headers = new ArrayList<String>();
    int length = 0;
    for (var text : distinct) {
      var shown = shorten && text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) : text;
      length += shown.length();
      if (length > MAX_TOTAL_LENGTH) {
        break;
      }
      headers.add("299 - \"" + escaped(shown) + '"');
    }
    return headers;
  }

  /** What a header cannot carry becomes a question mark. */
  private static String escaped(String text) {
    return text.replaceAll("[^\\x20-\\x7e]", "?").replace("\\", "\\\\").replace("\"", "\\\"");
  }
}
