package dev.activator.proxy.hostile;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request or response as far as it has come. */
final class Message {
  static final int NOT_RESET = -1;

  final List<Integer> interims = new ArrayList<>();
  final ByteArrayOutputStream body = new ByteArrayOutputStream();
  /** As {@code name: value} lines, in lower case. */
  List<String> fields = List.of();
  List<String> trailers = List.of();
  /** The start line, or in HTTP/2 the path or the status. */
  String start = "";
  boolean hasHead;
  boolean complete;
  int reset = NOT_RESET;

  @Nullable String field(String name) {
    String prefix = name + ": ";
    return fields.stream().filter(field -> field.startsWith(prefix))
        .map(field -> field.substring(prefix.length())).findFirst().orElse(null);
  }

  int status() {
    return Integer.parseInt(start.startsWith("HTTP/") ? start.split(" ")[1] : start);
  }

  String text() {
    return body.toString(StandardCharsets.ISO_8859_1);
  }

  @Override
  public String toString() {
    return hasHead
        ? start + " " + fields + " " + body.size() + " bytes" + (complete ? ", complete" : "")
            + (reset == NOT_RESET ? "" : ", reset " + reset)
        : "nothing" + (reset == NOT_RESET ? "" : ", reset " + reset);
  }
}
