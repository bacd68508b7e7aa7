package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Callers and pods that behave in all the ways they can at once, few of them well. The seed decides
 * what each does, not in which order.
 */
class RandomCallersTest extends WireTest {
  private static final int CALLERS = 24;
  private static final int REQUESTS = 12;

  /** What a pod does with a request, by the first part of its path. */
  private static final List<String> PODS = List.of("length", "chunks", "early", "hangup", "broken",
      "reset", "last", "interim");

  private final Map<String, Integer> arrivedAtPod = new ConcurrentHashMap<>();
  private final List<String> wrongBodies = new CopyOnWriteArrayList<>();

  static LongStream seeds() {
    return LongStream.range(0, 12);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void getTheirOwnResponsesOrNone(long seed) throws Exception {
    var pod = idlePod(this::serve);
    activator.throttle.grow(pod.destination(), 5);
    var random = new Random(seed);
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var done = new ArrayList<Future<Void>>();
      for (int i = 0; i < CALLERS; i++) {
        done.add(callers.submit(caller(i, random.nextLong())));
      }
      for (var one : done) {
        one.get(2, TimeUnit.MINUTES);
      }
    }

    // What may change something was never sent twice; and everything is given back (WireTest).
    arrivedAtPod.forEach((request, times) -> {
      if (request.startsWith("POST")) {
        assertThat(times).as(request).isEqualTo(1);
      }
    });
    assertThat(wrongBodies).isEmpty();
    awaitIdle();
  }

  private Callable<Void> caller(int number, long seed) {
    return () -> {
      var random = new Random(seed);
      RawPeer peer = activator.connect();
      for (int i = 0; i < REQUESTS; i++) {
        String name = number + "-" + i;
        if (!exchange(peer, random, name)) {
          peer.close();
          peer = activator.connect();
        }
      }
      peer.close();
      return null;
    };
  }

  /** One request; false if the connection cannot be used after it. */
  private boolean exchange(RawPeer peer, Random random, String name) {
    String path = "/" + PODS.get(random.nextInt(PODS.size())) + "/" + name;
    try {
      int body = random.nextBoolean() ? 0 : random.nextInt(200_000);
      if (body == 0) {
        Activator.request(peer, "GET " + path + " HTTP/1.1");
      } else {
        Activator.request(peer, "POST " + path + " HTTP/1.1", "Content-Length: " + body);
        int first = random.nextInt(body + 1);
        peer.send(body(0, first));
        if (random.nextInt(10) == 0) {
          return false;
        }
        peer.send(body(first, body));
      }
      return switch (random.nextInt(10)) {
        case 0 -> false;
        case 1 -> {
          peer.reset();
          yield false;
        }
        case 2 -> {
          peer.endOutput();
          yield false;
        }
        default -> readResponse(peer, name);
      };
    } catch (IOException ended) {
      return false;
    }
  }

  private static boolean readResponse(RawPeer peer, String name) throws IOException {
    var head = peer.readHead();
    while (head.start().contains(" 103 ")) {
      head = peer.readHead();
    }
    String body = peer.readBody(head);
    if (head.start().startsWith("HTTP/1.1 200 ")) {
      assertThat(body).isEqualTo(name);
    } else {
      assertThat(head.start()).startsWith("HTTP/1.1 502 ");
    }
    return !"close".equals(head.header("Connection"));
  }

  private static String text(String length) {
    return length == null
        ? ""
        : new String(body(0, Integer.parseInt(length)), StandardCharsets.ISO_8859_1);
  }

  /** A part of the body that all have: each byte differs from its neighbours. */
  private static byte[] body(int from, int to) {
    byte[] bytes = new byte[to - from];
    for (int i = from; i < to; i++) {
      bytes[i - from] = (byte) (i % 251);
    }
    return bytes;
  }

  private void serve(RawPeer caller) throws IOException {
    while (true) {
      var head = caller.readHead();
      String[] path = head.start().split(" ")[1].split("/");
      arrivedAtPod.merge(head.start(), 1, Integer::sum);
      String answer = "HTTP/1.1 200 OK\r\nContent-Length: " + path[2].length() + "\r\n\r\n"
          + path[2];
      if (path[1].equals("early")) {
        caller.send(answer);
      }
      if (!caller.readBody(head).equals(text(head.header("Content-Length")))) {
        wrongBodies.add(head.start());
      }
      switch (path[1]) {
        case "early" -> {
          // It was answered already.
        }
        case "chunks" -> caller.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + Integer.toHexString(path[2].length()) + "\r\n" + path[2] + "\r\n0\r\n\r\n");
        case "hangup" -> {
          return;
        }
        case "broken" -> {
          caller.send(answer.substring(0, answer.length() - 1));
          return;
        }
        case "reset" -> {
          caller.reset();
          return;
        }
        case "last" -> {
          caller.send(answer);
          return;
        }
        case "interim" -> caller.send("HTTP/1.1 103 Early Hints\r\n\r\n" + answer);
        default -> caller.send(answer);
      }
    }
  }
}
