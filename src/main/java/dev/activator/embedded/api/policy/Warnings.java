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
  private static final int LONGEST = 256;
  private static final int LONGEST_TOGETHER = 4 * 1024;

  private Warnings() {}

  /** Shortens long texts if all together are too long, and then leaves out the last. */
  public static List<String> headers(List<String> texts) {
    var distinct = texts.stream().distinct().toList();
    boolean shorten = distinct.stream().mapToInt(String::length).sum() > LONGEST_TOGETHER;
    var headers = new ArrayList<String>();
    int length = 0;
    for (var text : distinct) {
      var shown = shorten && text.length() > LONGEST ? text.substring(0, LONGEST) : text;
      length += shown.length();
      if (length > LONGEST_TOGETHER) {
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
