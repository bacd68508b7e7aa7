package dev.activator.embedded.api.policy;

import java.util.regex.Pattern;

/**
 * Which names a caller on this machine may use for it. A page from elsewhere that a browser here
 * has open uses another, or says where it is from.
 */
public final class LoopbackNames {
  private static final Pattern HOST = Pattern
      .compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d{1,5})?", Pattern.CASE_INSENSITIVE);
  private static final Pattern ORIGIN = Pattern.compile("(https?|wss?)://(?<host>[^/]+)/?");

  private LoopbackNames() {}

  /** Whether a Host header names this machine, with a port or without. */
  public static boolean isHost(String host) {
    return HOST.matcher(host).matches();
  }

  /** Whether an Origin header names this machine. */
  public static boolean isOrigin(String origin) {
    var matcher = ORIGIN.matcher(origin);
    return matcher.matches() && isHost(matcher.group("host"));
  }
}
