package dev.activator.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What a tool that makes requests has seen.
 *
 * @param requests that were answered
 * @param perSecond of them
 * @param p50 milliseconds
 * @param p90 milliseconds
 * @param p99 milliseconds
 * @param errors requests that were not answered with success
 */
record Load(long requests, double perSecond, double p50, double p90, double p99, long errors) {
  private static final Pattern LATENCY = Pattern.compile("(\\d\\d)%\\s+([0-9.]+)(us|ms|s)");

  /** As many as are answered, over HTTP/1.1, each connection with one at a time. */
  static Load wrk(List<String> arguments) throws IOException {
    var command = new ArrayList<>(List.of("wrk", "--latency", "-t1"));
    command.addAll(arguments);
    var out = run(command);
    long errors = number(out, "Non-2xx or 3xx responses: (\\d+)")
        + number(out, "Socket errors: connect (\\d+)") + number(out, "connect \\d+, read (\\d+)")
        + number(out, "read \\d+, write (\\d+)") + number(out, "write \\d+, timeout (\\d+)");
    return new Load(number(out, "(\\d+) requests in"), decimal(out, "Requests/sec:\\s+([0-9.]+)"),
        latency(out, "50"), latency(out, "90"), latency(out, "99"), errors);
  }

  /** HTTP/2, or HTTP/1.1 at a fixed rate. */
  static Load h2load(List<String> arguments) throws IOException {
    var log = Files.createTempFile("h2load", ".log");
    var command = new ArrayList<>(List.of("h2load", "--log-file=" + log, "-t1"));
    command.addAll(arguments);
    try {
      var out = run(command);
      var micros = micros(log);
      long succeeded = number(out, "(\\d+) succeeded");
      return new Load(succeeded, decimal(out, "finished in [^,]+, ([0-9.]+) req/s"),
          at(micros, 0.5), at(micros, 0.9), at(micros, 0.99),
          number(out, "(\\d+) started") == succeeded ? 0 : number(out, "(\\d+) failed"));
    } finally {
      Files.deleteIfExists(log);
    }
  }

  private static long[] micros(Path log) throws IOException {
    try (var lines = Files.lines(log)) {
      return lines.mapToLong(line -> Long.parseLong(line.split("\t")[2])).sorted().toArray();
    }
  }

  private static double at(long[] sorted, double share) {
    return sorted.length == 0 ? Double.NaN : sorted[(int) (sorted.length * share)] / 1e3;
  }

  private static String run(List<String> command) throws IOException {
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!out.contains("requests in") && !out.contains("finished in")) {
      throw new IOException(String.join(" ", command) + ": " + out);
    }
    return out;
  }

  private static double latency(String out, String percentile) {
    var found = LATENCY.matcher(out);
    while (found.find()) {
      if (found.group(1).equals(percentile)) {
        double value = Double.parseDouble(found.group(2));
        return switch (found.group(3)) {
          case "us" -> value / 1e3;
          case "ms" -> value;
          default -> value * 1e3;
        };
      }
    }
    return Double.NaN;
  }

  private static long number(String out, String pattern) {
    var found = Pattern.compile(pattern).matcher(out);
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }

  private static double decimal(String out, String pattern) {
    var found = Pattern.compile(pattern).matcher(out);
    return found.find() ? Double.parseDouble(found.group(1)) : Double.NaN;
  }
}
