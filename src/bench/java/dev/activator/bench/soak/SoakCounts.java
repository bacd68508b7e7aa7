package dev.activator.bench.soak;

import dev.activator.bench.soak.SoakCluster.Deployed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** How the requests of each kind ended, and which of them should not have ended like that. */
final class SoakCounts {
  /** What callers do, and how that may end. */
  enum Kind {
    HTTP1("HTTP/1.1", "200"),
    HTTP2("HTTP/2", "200"),
    HTTP1_TLS("HTTP/1.1 over TLS", "200"),
    HTTP2_TLS("HTTP/2 over TLS", "200"),
    STREAM("streams as gRPC's", "200"),
    WEB_SOCKET("WebSockets", "closed"),
    COLD("cold starts", "200"),
    NEW("of a new revision", "200"),
    /** Without a reason if it came too late to be queued. */
    DELETED("revision deleted meanwhile", "404 revision-gone", "404"),
    SLOW("read slowly", "200"),
    UNREAD("never read, then left", "left"),
    LEFT_BODY("left in the body", "left"),
    LEFT_QUEUE("left the queue", "left"),
    DEADLINE("deadline over", "504 caller-deadline", "200");

    private final String text;
    private final Set<String> expected;

    Kind(String text, String... expected) {
      this.text = text;
      this.expected = Set.of(expected);
    }
  }

  /** A pod is killed shortly before its connections end. */
  private static final long KILL_NANOS = Duration.ofMillis(200).toNanos();
  private static final int MAX_DETAILS = 40;
  /** What a request may see whose pod was killed. */
  private static final Set<String> BROKEN = Set.of("broken off", "no response", "502");

  private final AtomicLong ids = new AtomicLong();
  private final Map<Kind, Map<String, Long>> ends = new EnumMap<>(Kind.class);
  private final Map<Kind, Map<String, Long>> lost = new EnumMap<>(Kind.class);
  private final List<String> details = new ArrayList<>();
  private int failed;
  private long begunNanos = System.nanoTime();

  /** A name for the next request. */
  String nextId() {
    return Long.toString(ids.incrementAndGet());
  }

  /** @param end a status, with the reason if the activator gave one, or how else it ended */
  synchronized void count(Kind kind, Deployed revision, String id, long begun, String end) {
    if (kind.expected.contains(end)) {
      add(ends, kind, end);
    } else if (BROKEN.contains(end) && revision.killed(id)) {
      add(ends, kind, "its pod was killed");
    } else if (BROKEN.contains(end) && revision.killedSince(begun - KILL_NANOS)) {
      add(ends, kind, "on its way to a killed pod");
    } else {
      add(lost, kind, end);
      if (details.size() < MAX_DETAILS) {
        details
            .add("%s: %s, request %s of %s, %.1f s after its begin, %.0f s after that of the load"
                .formatted(kind.text, end, id, revision.name(), seconds(begun),
                    seconds(begunNanos)));
        System.err.println("LOST " + details.getLast());
      }
    }
  }

  /** A caller could not do its part: it was not let in, or got what makes no sense. */
  synchronized void failed(Throwable e) {
    failed++;
    if (failed <= MAX_DETAILS) {
      e.printStackTrace();
    }
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) / 1e9;
  }

  private static void add(Map<Kind, Map<String, Long>> to, Kind kind, String end) {
    to.computeIfAbsent(kind, _ -> new TreeMap<>()).merge(end, 1L, Long::sum);
  }

  /** Counts from now on; what was lost before stays. */
  synchronized void reset() {
    ends.clear();
    begunNanos = System.nanoTime();
  }

  /** The kinds with lost requests; empty if nothing was lost. */
  synchronized List<String> failures() {
    var failures = new ArrayList<String>();
    lost.forEach((kind, ends) -> failures.add(kind.text + ": lost " + text(ends)));
    if (failed > 0) {
      failures.add(failed + " callers failed: their stack traces are above");
    }
    return failures;
  }

  synchronized long total() {
    return sum(ends) + sum(lost);
  }

  private static long sum(Map<Kind, Map<String, Long>> of) {
    return of.values().stream().flatMap(map -> map.values().stream()).mapToLong(Long::longValue)
        .sum();
  }

  synchronized void print() {
    System.out.println("\n| requests | ended as they should | lost |\n|---|---|---|");
    for (var kind : Kind.values()) {
      System.out.printf("| %s | %s | %s |%n", kind.text, text(ends.getOrDefault(kind, Map.of())),
          lost.containsKey(kind) ? text(lost.get(kind)) : "0");
    }
  }

  private static String text(Map<String, Long> counts) {
    return counts.isEmpty()
        ? "0"
        : counts.entrySet().stream()
            .map(each -> "%,d × %s".formatted(each.getValue(), each.getKey()))
            .collect(Collectors.joining(", "));
  }
}
