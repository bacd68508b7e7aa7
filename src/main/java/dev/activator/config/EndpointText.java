package dev.activator.config;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Where OTLP is sent, as people write it: a URL, or a host with its port. */
final class EndpointText {
  private static final String PORT = "(:\\d{1,5})?";
  private static final String HOST = "(\\[[0-9a-fA-F:.%]+]|[^\\s:/?#@\\[\\]]+)";
  private static final Pattern ENDPOINT = Pattern
      .compile("(https?://)?([^/@\\s]*@)?" + HOST + PORT + "(/\\S*)?");

  private EndpointText() {}

  /** What is wrong with the text; null if nothing is, or it is empty. */
  static @Nullable String problem(String text) {
    return text.isEmpty() || ENDPOINT.matcher(text).matches()
        ? null
        : "it is '" + UserInfo.dropFrom(text)
            + "', but must be a URL such as http://collector:4318";
  }
}
