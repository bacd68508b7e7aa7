package dev.activator.config;

import java.time.Duration;

/** Checks of settings, whose errors name the setting, its value and the rule. */
public final class SettingRequirement {
  private static final int LAST_PORT = 65_535;

  private SettingRequirement() {}

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

  public static void positive(String setting, Duration length) {
    duration(length.isPositive(), setting, length, "must be more than 0");
  }

  public static void notNegative(String setting, Duration length) {
    duration(!length.isNegative(), setting, length, "must not be negative");
  }

  /** Printed only on failure: the first time takes milliseconds. */
  private static void duration(boolean holds, String setting, Duration length, String rule) {
    if (!holds) {
      check(false, setting, GoDuration.print(length), rule);
    }
  }
}
