package dev.activator.ext.affinity;

import dev.activator.ext.affinity.policy.AffinityRule;
import dev.activator.loop.Loop;
import dev.activator.observability.FakeRequest;
import dev.activator.revision.Destination;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** What different keys cost: each is issued by a pod, and a request with another one comes. */
final class ManyKeysBench {
  private static final String SESSION = "Mcp-Session-Id";
  private static final List<Destination> PODS = IntStream.range(10, 20)
      .mapToObj(number -> new Destination("10.0.0." + number, 8080)).toList();

  private ManyKeysBench() {}

  private record Caller(FakeRequest timeline, Loop loop) implements QueuedCaller {
    @Override
    public void granted(Permit permit) {}

    @Override
    public void rejected(Rejection reason) {}
  }

  public static void main(String[] args) {
    int keys = Integer.parseInt(args[0]);
    var padding = "x".repeat(Integer.parseInt(args[1]));
    var rule = AffinityRule.parse(Map.of("activator.dev/affinity-header", SESSION,
        "activator.dev/affinity-mode", "strict"), problem -> {
          throw new IllegalArgumentException(problem);
        });
    var affinity = new RevisionAffinity(FakeRequest.HELLO, rule, new AffinityCookie("a secret"),
        KeyNotices.NONE, new AffinityCounts());
    var loop = new VirtualLoop();
    long before = usedMiB();
    long began = System.nanoTime();
    for (int i = 0; i < keys; i++) {
      var first = FakeRequest.of((_, _) -> {
      }, loop);
      affinity.of(new Caller(first, loop));
      first.granted(PODS.get(i % PODS.size()));
      first.responseHeaders.put(SESSION, "issued-" + i + padding);
      first.responding(200);
      RevisionAffinity.onResponding(first);
      var other = FakeRequest.of((_, _) -> {
      }, loop);
      other.headers.put(SESSION, "own-" + i + padding);
      affinity.of(new Caller(other, loop)).wanted(PODS);
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    System.out.printf("%,d keys of %,d bytes: %.1f s, %.1f µs each; %,d kept; heap %d -> %d MiB%n",
        keys, padding.length() + 12, seconds, seconds * 1e6 / keys, affinity.keys(), before,
        usedMiB());
  }

  private static long usedMiB() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20;
  }
}
