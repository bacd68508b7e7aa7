package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Activators that are replaced one after the other, as a Deployment does, under callers. */
class RollingRestartTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final int CALLERS = 4;
  private static final int ROUNDS = 3;
  private static final String GOING_AWAY = "\u0088\u0002\u0003\u00e9";

  /** What load balancers send new requests to. */
  private volatile Activator current;
  private volatile boolean over;
  private final AtomicInteger answered = new AtomicInteger();
  /** How often each caller has asked where to go. */
  private final List<AtomicInteger> looks = new ArrayList<>();
  private final Queue<String> lost = new ConcurrentLinkedQueue<>();

  /** One request after the other, on a connection that is kept as long as it goes to the right one. */
  private Void call(AtomicInteger look) throws IOException {
    Activator used = current;
    var peer = used.connect();
    while (!over) {
      look.incrementAndGet();
      if (used != current) {
        peer.close();
        used = current;
        peer = used.connect();
      }
      try {
        Activator.request(peer, "POST / HTTP/1.1", "Content-Length: 3");
        peer.send("abc");
        var head = peer.readHead();
        peer.readBody(head);
        if (!head.start().equals("HTTP/1.1 200 OK")) {
          lost.add(head.start());
        }
        answered.incrementAndGet();
        if ("close".equals(head.header("Connection"))) {
          peer.close();
          peer = used.connect();
        }
      } catch (IOException ended) {
        lost.add(ended.toString());
        return null;
      }
    }
    peer.close();
    return null;
  }

  private Future<Void> caller(AtomicInteger look) {
    var task = new FutureTask<>(() -> call(look));
    Thread.ofVirtual().start(task);
    return task;
  }

  /** Waits until every caller has heard of what changed before. */
  private void awaitLooks() {
    for (var look : looks) {
      int before = look.get();
      WireTest.eventually(() -> assertThat(look.get()).isGreaterThan(before + 1));
    }
  }

  /** An activator, with a WebSocket and a stream in HTTP/2 that go on for as long as they may. */
  private record Site(Activator activator, RawPeer socket, RawHttp2 stream) {
    /** Before it is told to anybody: its pods are changed under it. */
    static Site open(ScriptedPod pod, ScriptedPod talking, ScriptedPod streaming)
        throws IOException {
      var activator = new Activator();
      activator.throttle.grow(talking.destination(), 100);
      var socket = activator.get("/", "Connection: Upgrade", "Upgrade: websocket");
      assertThat(socket.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      activator.throttle.grow(streaming.destination(), 0);
      var stream = RawHttp2.caller(activator.connect());
      stream.headers(1, false, ":method", "POST", ":scheme", "http", ":path", "/", ":authority",
          "x", "knative-serving-namespace", "default", "knative-serving-revision",
          "hello-00001");
      assertThat(stream.read().field(":status")).isEqualTo("200");
      activator.throttle.grow(pod.destination(), 0);
      return new Site(activator, socket, stream);
    }

    void drain() throws Exception {
      var drained = activator.server.drain().toCompletableFuture();

      // The stream is told, and served to its end.
      assertThat(stream.read(RawHttp2.GOAWAY).number()).isZero();
      stream.read(RawHttp2.PING);
      stream.frame(RawHttp2.PING, RawHttp2.ACK, 0, new byte[8]);
      stream.data(1, true, "the end");
      assertThat(stream.read(RawHttp2.DATA).text()).isEqualTo("the end");
      stream.awaitEnd();

      // The WebSocket is told in its own words.
      assertThat(socket.read(4)).isEqualTo(GOING_AWAY);
      socket.close();
      drained.get(30, TimeUnit.SECONDS);
      WireTest.eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
      stream.close();
      activator.close();
    }
  }

  @Test
  void losesNoRequestAndEndsStreamsInOrder() throws Exception {
    try (var pod = ScriptedPod.answering(OK);
        var talking = new ScriptedPod(RollingRestartTest::talk);
        var streaming = new ScriptedPod(RollingRestartTest::stream)) {
      var site = Site.open(pod, talking, streaming);
      current = site.activator;
      var callers = new ArrayList<Future<Void>>();
      for (int i = 0; i < CALLERS; i++) {
        var look = new AtomicInteger();
        looks.add(look);
        callers.add(caller(look));
      }
      for (int round = 0; round < ROUNDS; round++) {
        awaitLooks();
        // when another takes its place, and load balancers have heard of it
        var next = Site.open(pod, talking, streaming);
        current = next.activator;
        awaitLooks();
        site.drain();
        site = next;
      }
      awaitLooks();
      over = true;
      for (var caller : callers) {
        caller.get(30, TimeUnit.SECONDS);
      }
      site.drain();
    } finally {
      over = true;
    }
    // then nobody has missed an answer
    assertThat(lost).isEmpty();
    assertThat(answered).hasValueGreaterThan(CALLERS * ROUNDS);
  }

  private static void talk(RawPeer peer) throws IOException {
    peer.readHead();
    peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
        + "Upgrade: websocket\r\n\r\n");
    peer.awaitEnd();
  }

  /** Answers at once, and says back what it was told when that has ended. */
  private static void stream(RawPeer peer) throws IOException {
    var http2 = RawHttp2.pod(peer);
    var said = new StringBuilder();
    while (true) {
      var frame = http2.read();
      if (frame.type() == RawHttp2.HEADERS) {
        http2.headers(frame.stream(), false, ":status", "200");
      } else if (frame.type() == RawHttp2.DATA) {
        said.append(frame.text());
      }
      if (frame.ends()) {
        http2.data(frame.stream(), true, said.toString());
      }
    }
  }
}
