package dev.activator.ext.waitingpage;

import dev.activator.config.WaitingPageMode;
import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.FramingCheck;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.StartStatus;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/**
 * Decides which requests are answered with a waiting page while their revision starts, and when.
 */
final class WaitingPagePolicy {
  static final String ANNOTATION = "activator.dev/waiting-page";
  /** The value of {@code K-Network-Probe} in the page's own requests. */
  static final String POLL = "waiting-page";
  /**
   * How long a request waits before it gets the page. If a pod is ready earlier, the caller gets
   * the pod's response.
   */
  static final Duration DELAY = Duration.ofSeconds(1);

  private WaitingPagePolicy() {}

  /**
   * Whether a revision with these annotations has the page. An invalid annotation is ignored.
   *
   * @param mode the mode of revisions without the annotation
   */
  static boolean isOn(WaitingPageMode mode, Map<String, String> annotations) {
    return switch (annotations.getOrDefault(ANNOTATION, "").strip()) {
      case "auto" -> true;
      case "off" -> false;
      default -> mode == WaitingPageMode.AUTO;
    };
  }

  /** Whether a request is a navigation, which the page can repeat without losing anything. */
  static boolean isNavigation(String method, HeaderFieldList fields) {
    return (method.equals("GET") || method.equals("HEAD"))
        && fields.text(KnownHeader.SEC_FETCH_MODE).equals("navigate")
        && fields.hasToken(KnownHeader.ACCEPT, "text/html") && !FramingCheck.hasBody(fields)
        && !fields.has(KnownHeader.UPGRADE)
        && !fields.text(KnownHeader.SEC_PURPOSE).contains("prefetch");
  }

  /** @param retryAfterSeconds the time after which crawlers should come back */
  static LocalResponse page(String html, String contentPolicy, int retryAfterSeconds) {
    return new LocalResponse(503, Map.of("Content-Type", "text/html; charset=utf-8",
        "Content-Security-Policy", contentPolicy, "X-Content-Type-Options", "nosniff",
        "Referrer-Policy", "same-origin", "Cache-Control", "no-store", "Retry-After",
        Integer.toString(retryAfterSeconds), RequestFailure.REASON, "waiting-page"), html);
  }

  static LocalResponse status(StartStatus now) {
    return new LocalResponse(200, Map.of("Content-Type", "application/json", "Cache-Control",
        "no-store", "X-Content-Type-Options", "nosniff"), json(now) + "\n");
  }

  static String json(StartStatus now) {
    var requested = now.requested();
    var listed = now.listed();
    return String.format(Locale.ROOT,
        "{\"ready\":%b,\"why\":%s,\"failed\":%b,\"requestedMillis\":%s,\"listedMillis\":%s,"
            + "\"usualMillis\":%d}",
        now.ready(), ErrorFormat.json(now.why()), now.failed(),
        requested == null ? "null" : requested.toMillis(),
        listed == null ? "null" : listed.toMillis(), now.usual().toMillis());
  }
}
