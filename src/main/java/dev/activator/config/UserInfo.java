package dev.activator.config;

import java.util.regex.Pattern;

/** The user and the password in what is to be a URL: nothing to be read in a log. */
final class UserInfo {
  private static final Pattern WRITTEN = Pattern
      .compile("^([a-z][a-z0-9+.-]*://)?.*@", Pattern.CASE_INSENSITIVE);

  private UserInfo() {}

  /** The text without them, also where it is no URL after all. */
  static String dropFrom(String text) {
    return WRITTEN.matcher(text).replaceFirst("$1");
  }
}
