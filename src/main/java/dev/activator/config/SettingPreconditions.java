package dev.activator.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/** Checks settings. The error messages name the setting, its value and the rule. */
public final class SettingPreconditions {
  private static final int LAST_PORT = 65_535;
  private static final int MAX_NAME = 253;
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]*[a-z0-9])?");
  private static final Duration FOR_EVER = Duration.ofDays(36_500);

  private SettingPreconditions() {}

  /** @param rule follows "but", such as {@code must be positive} */
  public static void check(boolean valid, String setting, Object value, String rule) {
    if (!valid) {
      throw new IllegalArgumentException(setting + " is " + value + ", but " + rule);
    }
  }

  public static void variable(boolean valid, String variable, Object value, String rule) {
    check(valid, variable, "'" + value + "'", rule);
  }

  /** Checks a port; 0 stands for any free one. */
  public static void port(String setting, int port) {
    check(port >= 0 && port <= LAST_PORT, setting, port, "a port is 0 to " + LAST_PORT);
  }

  /** Checks that a duration is positive, and returns {@link #atMostForEver} of it. */
  public static Duration positive(String setting, Duration length) {
    duration(length.isPositive(), setting, length, "must be more than 0");
    return atMostForEver(length);
  }

  /** Like {@link #positive}, but also accepts zero. */
  public static Duration notNegative(String setting, Duration length) {
    duration(!length.isNegative(), setting, length, "must not be negative");
    return atMostForEver(length);
  }

  /**
   * Limits a duration to a hundred years, which stands for "for ever", so that a time plus the
   * duration fits into a long of nanoseconds.
   */
  public static Duration atMostForEver(Duration length) {
    return length.compareTo(FOR_EVER) > 0 ? FOR_EVER : length;
  }

  /** Checks the name of a Kubernetes object. */
  public static void name(String setting, String name, String kind) {
    check(isName(name), setting, "'" + name + "'", "must be the name of a " + kind);
  }

  /** Whether a Kubernetes object may have this name. */
  static boolean isName(String text) {
    return text.length() <= MAX_NAME && NAME.matcher(text).matches();
  }

  /** Refuses an empty address, which would be taken for the loopback address. */
  public static void bindAddress(String setting, String address) {
    check(!address.isBlank(), setting, "empty", "must be an address such as 0.0.0.0");
  }

  /** Checks that a URL has one of the schemes, and a host. */
  public static void url(String setting, String text, List<String> schemes) {
    boolean valid;
    try {
      var url = new URI(text);
      valid = schemes.contains(String.valueOf(url.getScheme())) && url.getHost() != null;
    } catch (URISyntaxException e) {
      valid = false;
    }
    variable(valid, setting, text, "must be a URL such as " + schemes.getFirst() + "://host:8080");
  }

  /**
   * Prints the duration only on failure, because printing one for the first time takes
   * milliseconds.
   */
  private static void duration(boolean valid, String setting, Duration length, String rule) {
    if (!valid) {
      check(false, setting, GoDuration.print(length), rule);
    }
  }
}
