package dev.activator.embedded.api.policy;

import java.util.regex.Pattern;

/**
 * Which names a caller on this machine may use for it. A page from elsewhere that a browser here
 * has open uses another, or says where it is from.
 */
public final class LoopbackNames {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
  /** Browsers send no other forms of these addresses. */
  private static final Pattern HOST = Pattern.compile(
      "(localhost\\.?|127(\\." + OCTET + "){3}|\\[(::|(0{1,4}:){7})0{0,3}1])(:\\d{1,5})?",
      Pattern.CASE_INSENSITIVE);
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
