package dev.activator.ext.asleep.policy;

import dev.activator.config.ConfigValue;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The requests that put a pod to sleep and wake it.
 *
 * @param sleep the path of a POST
 * @param wake the path of a POST
 * @param isSleeping the path of a GET whose answer says whether it is asleep; empty for none
 * @param timeout of all requests of either together
 *
 * <p><b>Source.</b> The sleep mode of vLLM.
 */
public record SleepCalls(String sleep, String wake, String isSleeping, Duration timeout) {
  public static final SleepCalls DEFAULT = new SleepCalls("/sleep?level=1", "/wake_up",
      "/is_sleeping", Duration.ofSeconds(30));
  /** RFC 3986: a path that cannot be taken for a host, and a query. */
  private static final Pattern PATH = Pattern.compile(
      "/(?!/)([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
          + "([?]([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?");
  private static final int MAX_LENGTH = 1_024;
  private static final int MAX_SECONDS = 600;

  /** @throws IllegalArgumentException a sentence with the part that is invalid */
  static SleepCalls read(ConfigValue spec) {
    if (spec.isAbsent()) {
      return DEFAULT;
    }
    spec.object("path", "wakePath", "isSleepingPath", "timeoutSeconds");
    return new SleepCalls(path(spec.field("path"), DEFAULT.sleep),
        path(spec.field("wakePath"), DEFAULT.wake),
        "".equals(spec.field("isSleepingPath").value())
            ? ""
            : path(spec.field("isSleepingPath"), DEFAULT.isSleeping),
        Duration.ofSeconds(spec.field("timeoutSeconds").number(1, MAX_SECONDS,
            (int) DEFAULT.timeout.toSeconds())));
  }

  private static String path(ConfigValue field, String absent) {
    var path = field.headerText(MAX_LENGTH);
    if (path == null) {
      return absent;
    }
    if (!PATH.matcher(path).matches()) {
      throw field.mustBe("a path that begins with / and has only what a URL may contain");
    }
    return path;
  }
}
