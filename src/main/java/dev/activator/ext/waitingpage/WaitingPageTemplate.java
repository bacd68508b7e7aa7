package dev.activator.ext.waitingpage;

import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.config.ProxyPageStyle;
import dev.activator.proxy.policy.StartStatus;

/**
 * The HTML of the page that a browser shows while a revision starts. {@code {{script}}} and
 * {@code {{style}}} become the built-in script and style, and {@code {{request}}} the id of the
 * request, if it has one. No other script runs.
 */
public record WaitingPageTemplate(String html, String contentPolicy) {
  private static final String SCRIPT = ProxyPageStyle.resource("page.js");
  private static final String SCRIPT_PLACE = "{{script}}";
  private static final String BASE_POLICY = "default-src 'none'; connect-src 'self'; base-uri 'none';"
      + " form-action 'none'; script-src " + ProxyPageStyle.hash(SCRIPT) + "; ";

  public static final WaitingPageTemplate DEFAULT = new WaitingPageTemplate(
      ProxyPageStyle.resource("page.html"), BASE_POLICY + "style-src " + ProxyPageStyle.HASH);

  /**
   * Checks an operator's template. It may contain styles and pictures.
   *
   * @throws IllegalArgumentException if it has no place for the script
   */
  static WaitingPageTemplate of(String html) {
    if (!html.contains(SCRIPT_PLACE)) {
      throw new IllegalArgumentException("has no " + SCRIPT_PLACE
          + ", without which it never becomes the answer");
    }
    return new WaitingPageTemplate(html,
        BASE_POLICY + "style-src 'unsafe-inline'; img-src 'self' data:");
  }

  /** @param requestId may be empty */
  LocalResponse page(StartStatus now, int retryAfterSeconds, String requestId) {
    String status = ErrorFormat.html(WaitingPagePolicy.json(now));
    return WaitingPagePolicy.page(html.replace("{{style}}", ProxyPageStyle.ELEMENT)
        .replace("{{request}}", ErrorFormat.requestIdAsHtml(requestId))
        .replace(SCRIPT_PLACE,
            "<script data-status=\"" + status + "\">" + SCRIPT + "</script>"),
        contentPolicy, retryAfterSeconds);
  }
}
