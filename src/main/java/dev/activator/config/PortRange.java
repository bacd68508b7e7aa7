package dev.activator.config;

/**
 * A range of ports.
 *
 * @param last less than {@code first} if there are none
 */
public record PortRange(int first, int last) {
  public static final PortRange NONE = new PortRange(1, 0);
  private static final int MAX_PORT = 65_535;

  /**
   * @param text such as {@code 9100-9119} or {@code 9100}; blank for none
   * @throws IllegalArgumentException with the reason
   */
  public static PortRange parse(String text) {
    if (text.isBlank()) {
      return NONE;
    }
    var bounds = text.split("-", 2);
    var first = bounds[0].strip();
    var last = bounds[bounds.length - 1].strip();
    if (!first.matches("\\d{1,5}") || !last.matches("\\d{1,5}")) {
      throw new IllegalArgumentException("must be a port, or a range such as 9100-9119");
    }
    var range = new PortRange(Integer.parseInt(first), Integer.parseInt(last));
    if (range.first < 1 || range.last > MAX_PORT || range.isEmpty()) {
      throw new IllegalArgumentException("must have ports from 1 to " + MAX_PORT
          + ", the lowest first");
    }
    return range;
  }

  public boolean isEmpty() {
    return last < first;
  }

  public boolean has(int port) {
    return first <= port && port <= last;
  }

  @Override
  public String toString() {
    return first + "-" + last;
  }
}
