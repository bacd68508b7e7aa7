package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.WaitStatus;
import dev.activator.proxy.policy.WaitingPagePolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Objects;

/**
 * The page that waits for a start: {@code {{script}}} becomes our script and {@code {{style}}} our
 * style. No other script runs.
 */
public record WaitingPageTemplate(String html, String contentPolicy) {
  private static final String SCRIPT = resource("page.js");
  private static final String STYLE = resource("page.css");
  private static final String SCRIPT_PLACE = "{{script}}";
  private static final String BASE_POLICY = "default-src 'none'; connect-src 'self'; base-uri 'none';"
      + " form-action 'none'; script-src 'sha256-" + hash(SCRIPT) + "'; ";

  public static final WaitingPageTemplate DEFAULT = new WaitingPageTemplate(resource("page.html"),
      BASE_POLICY + "style-src 'sha256-" + hash(STYLE) + "'");

  /**
   * An operator's own, which may have styles and pictures inside.
   *
   * @throws IllegalArgumentException if it has no place for the script
   */
  public static WaitingPageTemplate of(String html) {
    if (!html.contains(SCRIPT_PLACE)) {
      throw new IllegalArgumentException("has no " + SCRIPT_PLACE
          + ", without which it never becomes the answer");
    }
    return new WaitingPageTemplate(html,
        BASE_POLICY + "style-src 'unsafe-inline'; img-src 'self' data:");
  }

  LocalResponse page(WaitStatus now, int retryAfterSeconds) {
    String status = ErrorFormat.html(WaitingPagePolicy.json(now));
    return WaitingPagePolicy.page(html.replace("{{style}}", "<style>" + STYLE + "</style>")
        .replace(SCRIPT_PLACE,
            "<script data-status=\"" + status + "\">" + SCRIPT + "</script>"),
        contentPolicy, retryAfterSeconds);
  }

  private static String resource(String name) {
    try (var file = WaitingPageTemplate.class.getResourceAsStream("/waiting-page/" + name)) {
      return new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String hash(String text) {
    try {
      return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256")
          .digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
