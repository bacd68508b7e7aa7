package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Callers and pods that do anything HTTP/2 allows, at random: small limits and windows, resets from
 * either side, and connections that end in order with requests on their way.
 */
class RandomHttp2Test extends WireTest {
  private static final int REQUESTS = 40;
  private static final int MOST_REFUSALS = 2;
  private static final int INTERNAL_ERROR = 2;
  private static final int REFUSED_STREAM = 7;
  private static final int CANCEL = 8;

  /** What the pod did with a request in the end, by its path. */
  private final Map<String, String> outcomes = new ConcurrentHashMap<>();
  private final Map<String, Integer> refusals = new ConcurrentHashMap<>();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger podSeeds = new AtomicInteger();

  static LongStream seeds() {
    return LongStream.range(0, 20);
  }

  /** One connection of the pod. */
  private final class Pod {
    private final RawHttp2 http2;
    private final Random random;
    private final int limit;
    private final int window;
    private final Map<Integer, String> open = new TreeMap<>();
    private final Map<Integer, Integer> taken = new HashMap<>();
    private int lastServed = Integer.MAX_VALUE;

    private Pod(RawPeer peer, long seed) throws IOException {
      random = new Random(seed);
      limit = 1 + random.nextInt(4);
      window = 100 + random.nextInt(5_000);
      http2 = RawHttp2.pod(peer, RawHttp2.MAX_CONCURRENT_STREAMS, limit,
          RawHttp2.INITIAL_WINDOW_SIZE, window);
    }

    private void serve() throws IOException {
      while (true) {
        var frame = http2.read();
        if (frame.stream() <= lastServed) {
          take(frame);
        }
      }
    }

    private void take(RawHttp2.Frame frame) throws IOException {
      int stream = frame.stream();
      switch (frame.type()) {
        case RawHttp2.HEADERS -> begin(stream, frame.field(":path"));
        case RawHttp2.DATA -> data(stream, frame.payload().length, frame.ends());
        case RawHttp2.RST_STREAM -> open.remove(stream);
        default -> {
          // About the connection.
        }
      }
      if (frame.ends() && open.containsKey(stream)) {
        answer(stream, open.get(stream));
      }
    }

    private void begin(int stream, String path) {
      open.put(stream, path);
      if (open.size() > limit) {
        violations.add(open.size() + " streams where " + limit + " are allowed");
      }
    }

    private void data(int stream, int bytes, boolean ends) throws IOException {
      if (taken.merge(stream, bytes, Integer::sum) > window) {
        violations.add("more than the window of stream " + stream);
      }
      if (bytes > 0) {
        http2.window(0, bytes);
      }
      if (bytes > 0 && !ends) {
        taken.merge(stream, -bytes, Integer::sum);
        http2.window(stream, bytes);
      }
    }

    private void answer(int stream, String path) throws IOException {
      int dice = random.nextInt(10);
      if (dice == 0 && refusals.getOrDefault(path, 0) < MOST_REFUSALS) {
        refusals.merge(path, 1, Integer::sum);
        open.remove(stream);
        http2.reset(stream, REFUSED_STREAM);
      } else if (dice == 1 && mayRefuseFrom(stream)) {
        leave(stream);
      } else if (dice == 2) {
        outcomes.put(path, "502");
        open.remove(stream);
        http2.reset(stream, INTERNAL_ERROR);
      } else {
        outcomes.put(path, "200");
        open.remove(stream);
        http2.headers(stream, false, ":status", "200");
        http2.data(stream, random.nextBoolean(), path);
        http2.data(stream, true, "");
      }
    }

    private boolean mayRefuseFrom(int stream) {
      return lastServed == Integer.MAX_VALUE && open.entrySet().stream()
          .filter(one -> one.getKey() >= stream)
          .allMatch(one -> refusals.getOrDefault(one.getValue(), 0) < MOST_REFUSALS);
    }

    /** Takes no more from this one on, and answers what came before. */
    private void leave(int stream) throws IOException {
      lastServed = stream - 2;
      open.entrySet().stream().filter(one -> one.getKey() >= stream)
          .forEach(one -> refusals.merge(one.getValue(), 1, Integer::sum));
      open.keySet().removeIf(one -> one >= stream);
      http2.goAway(lastServed, 0);
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void answersEachRequestOnceAndKeepsToEveryLimit(long seed) throws Exception {
    pod(peer -> new Pod(peer, seed * 1_000 + podSeeds.incrementAndGet()).serve());
    var random = new Random(seed);
    Set<Integer> left = new HashSet<>();
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int i = 0; i < REQUESTS; i++) {
        ask(caller, random, 2 * i + 1);
        if (random.nextInt(8) == 0) {
          caller.reset(2 * i + 1, CANCEL);
          left.add(2 * i + 1);
        }
      }
      var ends = readEnds(caller, left);

      assertThat(ends).hasSize(REQUESTS - left.size()).allSatisfy(
          (stream, status) -> assertThat(status).isEqualTo(outcomes.get("/" + stream)));
    }
    assertThat(violations).isEmpty();
  }

  private static void ask(RawHttp2 caller, Random random, int stream) throws IOException {
    int parts = random.nextInt(4);
    caller.headers(stream, parts == 0, head("/" + stream));
    for (int part = 1; part <= parts; part++) {
      caller.data(stream, part == parts, new byte[random.nextInt(1_000)]);
    }
  }

  private static String[] head(String path) {
    return new String[]{":method", "POST", ":scheme", "http", ":path", path, ":authority",
        "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
        "hello-00001"};
  }

  /** The status with which each stream has ended, but for those that the caller has left. */
  private static Map<Integer, String> readEnds(RawHttp2 caller, Set<Integer> left)
      throws IOException {
    var statuses = new HashMap<Integer, String>();
    var ended = new TreeMap<Integer, String>();
    List<Integer> twice = new ArrayList<>();
    while (ended.size() < REQUESTS - left.size()) {
      var frame = caller.read();
      if (left.contains(frame.stream())) {
        continue;
      }
      if (frame.type() == RawHttp2.HEADERS) {
        statuses.put(frame.stream(), frame.field(":status"));
      }
      if (frame.type() == RawHttp2.RST_STREAM || frame.ends()) {
        var before = ended.put(frame.stream(), statuses.getOrDefault(frame.stream(), "reset"));
        if (before != null) {
          twice.add(frame.stream());
        }
      }
    }
    assertThat(twice).as("streams that ended more than once").isEmpty();
    return ended;
  }
}
