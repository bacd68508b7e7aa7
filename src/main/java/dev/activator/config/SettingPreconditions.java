package dev.activator.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/** Checks of settings, whose errors name the setting, its value and the rule. */
public final class SettingPreconditions {
  private static final int LAST_PORT = 65_535;
  private static final int MAX_NAME = 253;
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]*[a-z0-9])?");
  private static final Duration FOR_EVER = Duration.ofDays(36_500);

  private SettingPreconditions() {}

  /** @param rule follows "but", such as {@code must be positive} */
  public static void check(boolean holds, String setting, Object value, String rule) {
    if (!holds) {
      throw new IllegalArgumentException(setting + " is " + value + ", but " + rule);
    }
  }

  public static void variable(boolean holds, String variable, Object value, String rule) {
    check(holds, variable, "'" + value + "'", rule);
  }

  /** 0 stands for a free port. */
  public static void port(String setting, int port) {
    check(port >= 0 && port <= LAST_PORT, setting, port, "a port is 0 to " + LAST_PORT);
  }

  /** Returns a hundred years for all that is longer: it is for ever, and fits a number of nanoseconds. */
  public static Duration positive(String setting, Duration length) {
    duration(length.isPositive(), setting, length, "must be more than 0");
    return atMostForEver(length);
  }

  /** As {@link #positive}. */
  public static Duration notNegative(String setting, Duration length) {
    duration(!length.isNegative(), setting, length, "must not be negative");
    return atMostForEver(length);
  }

  private static Duration atMostForEver(Duration length) {
    return length.compareTo(FOR_EVER) > 0 ? FOR_EVER : length;
  }

  /** Of an object of Kubernetes. */
  public static void name(String setting, String name, String kind) {
    check(isName(name), setting, "'" + name + "'", "must be the name of a " + kind);
  }

  /** Whether an object of Kubernetes may have it. */
  static boolean isName(String text) {
    return text.length() <= MAX_NAME && NAME.matcher(text).matches();
  }

  /** An empty one would be taken for the loopback address. */
  public static void bindAddress(String setting, String address) {
    check(!address.isBlank(), setting, "empty", "must be an address such as 0.0.0.0");
  }

  /** Of which only the schemes are given; the rest is for the caller. */
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

  /** Printed only on failure: the first time takes milliseconds. */
  private static void duration(boolean holds, String setting, Duration length, String rule) {
    if (!holds) {
      check(false, setting, GoDuration.print(length), rule);
    }
  }
}
