package dev.activator.observability.request;

import dev.activator.observability.meter.Tags;
import java.util.Locale;

/**
 * What a {@code Host} header names.
 *
 * @param host in lower case, without the brackets of an IPv6 address
 * @param port in digits; empty if it is one that the scheme implies, or none is given
 */
public record HostPort(String host, String port) {

  public static HostPort parse(String text) {
    int bracket = text.lastIndexOf(']');
    int colon = text.indexOf(':', bracket + 1);
    String host = colon < 0 ? text : text.substring(0, colon);
    String port = colon < 0 ? "" : text.substring(colon + 1);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    return new HostPort(host.toLowerCase(Locale.ROOT),
        isImplied(port) || !isPort(port) ? "" : port);
  }

  private static boolean isImplied(String port) {
    return port.equals("80") || port.equals("443");
  }

  /** Callers write what they like. */
  private static boolean isPort(String text) {
    return !text.isEmpty() && text.length() <= 5
        && text.chars().allMatch(digit -> digit >= '0' && digit <= '9')
        && Integer.parseInt(text) <= 65_535;
  }

  /** These tags and those of the server's address. */
  Tags addTo(Tags tags) {
    var more = tags.and("server.address", host);
    return port.isEmpty() ? more : more.and("server.port", port);
  }
}
