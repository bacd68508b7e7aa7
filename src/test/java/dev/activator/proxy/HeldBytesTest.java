package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Requests that wait hold memory, and the process has only so much of it. */
class HeldBytesTest extends WireTest {
  private static final int BOUND_BYTES = 100_000;
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.holding(BOUND_BYTES);
  }

  private final RevisionId other = new RevisionId("default", "other-00001");

  /** Callers with heads of 20 kB and a little more, all queued. */
  private List<RawPeer> largeHeads(int count) throws Exception {
    var callers = new ArrayList<RawPeer>();
    for (int i = 0; i < count; i++) {
      int before = activator.throttle.queued();
      callers.add(activator.get("/", "Large: " + "x".repeat(20_000)));
      awaitHeld(before + 1);
    }
    return callers;
  }

  /** Each with a head of 20 kB, which is counted after it is queued. */
  private void awaitHeld(int requests) {
    eventually(() -> {
      assertThat(activator.throttle.queued()).isEqualTo(requests);
      assertThat(activator.held.total()).isGreaterThan(20_000L * requests);
    });
  }

  private RawPeer getOther(String large) throws Exception {
    var caller = activator.connect();
    caller.send("GET / HTTP/1.1\r\nHost: x\r\nKnative-Serving-Namespace: default\r\n"
        + "Knative-Serving-Revision: other-00001\r\nLarge: " + large + "\r\n\r\n");
    return caller;
  }

  @Test
  void queuesNoFurtherRequestOfARevisionThatHoldsMoreThanItLeaves() throws Exception {
    // given three heads, which hold 60 of 100 kB
    var callers = largeHeads(3);

    // then the next one is told at once
    try (var refused = activator.get("/")) {
      var head = refused.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 503 Service Unavailable");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("memory-full");
      assertThat(head.header("Retry-After")).isEqualTo("7");
      assertThat(refused.readBody(head)).isEqualTo("pending request queue full\n");
    }

    // and when those before it have run, there is room again
    pod(OK);
    for (var caller : callers) {
      assertThat(response(caller)).isEqualTo("200 ok");
      caller.close();
    }
    try (var later = activator.get("/")) {
      assertThat(response(later)).isEqualTo("200 ok");
    }
  }

  @Test
  void refusesALargeHeadWhileLargeHeadsHoldHalfOfTheBoundAndNoSmallOne() throws Exception {
    // given a request that runs, whose head counts as more than 40 of 100 kB
    var first = new AtomicBoolean(true);
    pod(caller -> {
      while (true) {
        caller.readHead();
        if (first.getAndSet(false)) {
          caller.awaitEnd();
        }
        caller.send(OK);
      }
    });
    try (var large = activator.get("/", "Large: " + "x".repeat(40_000))) {
      eventually(() -> assertThat(activator.held.total()).isBetween(40_000L, 45_000L));

      // then no other of that size is taken, in either version of HTTP
      try (var refused = activator.get("/", "Large: " + "x".repeat(40_000))) {
        var head = refused.readHead();
        assertThat(head.start()).startsWith("HTTP/1.1 431 ");
        assertThat(head.header("K-Activator-Reason")).isEqualTo("head-too-large");
      }
      try (var refused = RawHttp2.caller(activator.connect())) {
        refused.headers(1, true, ":method", "GET", ":scheme", "http", ":path", "/", ":authority",
            "x",
            "large", "x".repeat(40_000));
        assertThat(refused.response(1)).startsWith("431 ");
      }

      // and a small one is
      try (var small = activator.get("/", "k-network-probe: activator")) {
        assertThat(response(small)).startsWith("200 ");
      }
      large.reset();
    }
  }

  @Test
  void hasRoomForAnotherRevisionUntilAllIsUsed() throws Exception {
    activator.revisions.put(Revision.of(other, 0));
    var callers = largeHeads(3);

    // a little less than 40 kB are free, of which the other takes more than half with one
    callers.add(getOther("x".repeat(20_000)));
    awaitHeld(4);
    try (var refused = getOther("x")) {
      assertThat(response(refused)).startsWith("503 ");
    }

    pod(OK);
    for (var caller : callers) {
      assertThat(response(caller)).isEqualTo("200 ok");
      caller.close();
    }
  }

  @Test
  void hasRoomForAnotherRevisionWhateverBodiesOneIsSent() throws Exception {
    // given callers of one revision who all send 2 kB, until one is refused
    activator.revisions.put(Revision.of(other, 0));
    var callers = new ArrayList<RawPeer>();
    while (activator.requests.ended.isEmpty()) {
      var caller = activator.connect();
      Activator.request(caller, "POST / HTTP/1.1",
          "Content-Length: 2000\r\n\r\n" + "y".repeat(2_000 - 4));
      callers.add(caller);
      eventually(() -> assertThat(activator.throttle.queued() + activator.requests.ended.size())
          .isEqualTo(callers.size()));
      activator.awaitTurn();
    }
    assertThat(response(callers.removeLast())).startsWith("503 ");

    // when two with large heads come for another one
    for (int i = 0; i < 2; i++) {
      callers.add(getOther("x".repeat(20_000)));
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(callers.size()));
    }

    // then they are queued, and all run
    pod(OK);
    for (var caller : callers) {
      assertThat(response(caller)).isEqualTo("200 ok");
      caller.close();
    }
  }

  @Test
  void leavesBodiesUnreadOnceMuchIsHeldAndLosesNothingOfThem() throws Exception {
    // given ten callers who send 300 kB each, of which a window of 64 kB would be read
    int length = 300_000;
    List<RawPeer> callers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      var caller = activator.connect();
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: " + length);
      callers.add(caller);
    }
    eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(10));
    for (var caller : callers) {
      Flood.of(caller, "y".repeat(length).getBytes(StandardCharsets.US_ASCII), length);
    }

    // then what is read of one revision is a quarter of the bound, and what came in one read beyond
    eventually(() -> assertThat(activator.held.total()).isGreaterThan(BOUND_BYTES / 4));
    assertThat(activator.held.total()).isLessThan(BOUND_BYTES / 4 + 2 * (64 << 10));

    // and when they run, each is whole
    BlockingQueue<Integer> lengths = new LinkedBlockingQueue<>();
    pod(pod -> {
      while (true) {
        lengths.add(pod.readBody(pod.readHead()).length());
        pod.send(OK);
      }
    });
    for (var caller : callers) {
      assertThat(next(lengths)).isEqualTo(length);
      assertThat(response(caller)).isEqualTo("200 ok");
      caller.close();
    }
  }

  @Test
  void refusesUploadsInHttp2BeyondTheBoundAndKeepsTheirConnection() throws Exception {
    // given a pod that reads nothing of a body
    pod(peer -> {
      var pod = RawHttp2.pod(peer, RawHttp2.INITIAL_WINDOW_SIZE, 0);
      while (true) {
        var frame = pod.read();
        if (frame.ends()) {
          pod.headers(frame.stream(), true, ":status", "204");
        }
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      // when a caller sends ten bodies of 32 kB that the windows allow
      for (int stream = 1; stream < 20; stream += 2) {
        upload(caller, stream);
        for (int i = 0; i < 2; i++) {
          caller.data(stream, false, "y".repeat(16_000));
        }
      }
      for (int stream = 7; stream < 20; stream += 2) {
        var head = caller.read(RawHttp2.HEADERS);
        assertThat(head.stream()).isEqualTo(stream);
        assertThat(head.field(":status")).isEqualTo("503");
      }

      // then they hold no more than the bound, and the connection serves others
      assertThat(activator.held.total()).isLessThan(BOUND_BYTES + 2 * 16_384);
      caller.headers(101, true, ":method", "GET", ":scheme", "http", ":path", "/", ":authority",
          "x", "knative-serving-namespace", "default", "knative-serving-revision", "hello-00001");
      assertThat(caller.read(RawHttp2.HEADERS).field(":status")).isEqualTo("204");
    }
  }

  @Test
  void letsCallersInHttp2SendLessAtOnceWhileMuchIsHeld() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      assertThat(nextWindow(caller)).isEqualTo(64 << 10);
      // given four queued requests with bodies of 14 kB, more than half of the bound
      for (int stream = 1; stream < 8; stream += 2) {
        upload(caller, stream);
        caller.data(stream, false, "y".repeat(14_000));
      }
      assertThat(nextWindow(caller)).isEqualTo(4 << 10);

      // when they are gone
      for (int stream = 1; stream < 8; stream += 2) {
        caller.reset(stream, 8);
      }
      eventually(() -> assertThat(activator.held.total()).isLessThan(BOUND_BYTES / 4));

      // then the next one may send as usual
      upload(caller, 9);
      assertThat(nextWindow(caller)).isEqualTo(64 << 10);
    }
  }

  /** Otherwise a caller could send all of it when its pod stops reading. */
  @Test
  void narrowsTheWindowOfAnUploadAgainWhileMuchIsHeld() throws Exception {
    // given an upload whose window has become wide, as its pod reads it at once
    startWith(Activator.Settings.DEFAULT.holding(800_000));
    var taken = new Semaphore(0);
    var first = new AtomicInteger();
    pod(peer -> {
      var pod = RawHttp2.pod(peer, RawHttp2.INITIAL_WINDOW_SIZE, 0);
      while (true) {
        var frame = pod.read();
        if (frame.type() == RawHttp2.HEADERS && first.compareAndSet(0, frame.stream())) {
          pod.window(frame.stream(), 64 << 10);
        } else if (frame.type() == RawHttp2.DATA) {
          int length = frame.payload().length;
          pod.window(0, length).window(frame.stream(), length);
          taken.release(length);
        }
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      assertThat(nextWindow(caller)).isEqualTo(64 << 10);
      upload(caller, 1);
      int wide = send(caller, 64 << 10, 1 << 20, 16 << 10, taken);
      assertThat(wide).isGreaterThan(100 << 10);

      // when seven others hold more than half of the bound
      for (int stream = 3; stream < 17; stream += 2) {
        upload(caller, stream);
        for (int i = 0; i < 4; i++) {
          caller.data(stream, false, "y".repeat(15_000));
        }
      }
      assertThat(nextWindow(caller)).isEqualTo(4 << 10);

      // then it may soon send no more at once than it could at first
      assertThat(send(caller, wide - (60 << 10), 1 << 20, 4 << 10, taken))
          .isLessThanOrEqualTo(64 << 10);
      for (int stream = 1; stream < 17; stream += 2) {
        caller.reset(stream, 8);
      }
    }
  }

  /** A caller may not send into a window that is negative, so that no more of the body comes to be consumed. */
  @Test
  void letsAnUploadGoOn_whenSmallerSettingsLeaveItNoWindow() throws Exception {
    var taken = podThatReads("/1");
    try (var caller = RawHttp2.caller(activator.connect())) {
      int window = nextWindow(caller);
      caller.frame(RawHttp2.SETTINGS, RawHttp2.ACK, 0, new byte[0]);
      // given 20 kB of an upload, too few for a WINDOW_UPDATE, which its pod has read
      upload(caller, 1, "/1");
      send(caller, taken, 20_000);
      // when four others hold more than half of the bound
      for (int stream = 3; stream < 11; stream += 2) {
        upload(caller, stream, "/");
        caller.data(stream, false, "y".repeat(14_000));
      }
      int change = nextWindow(caller) - window;
      caller.frame(RawHttp2.SETTINGS, RawHttp2.ACK, 0, new byte[0]);

      // then the upload may go on
      assertThat(window - 20_000 + change + given(caller)).isPositive();
      for (int stream = 1; stream < 11; stream += 2) {
        caller.reset(stream, 8);
      }
    }
  }

  /** A caller may send 64 kB of a body before it knows the settings. */
  @Test
  void letsTheFirstUploadOfAConnectionGoOn_whileMuchIsHeld() throws Exception {
    var taken = podThatReads("/1");
    try (var others = RawHttp2.caller(activator.connect())) {
      for (int stream = 1; stream < 9; stream += 2) {
        upload(others, stream, "/");
        others.data(stream, false, "y".repeat(14_000));
      }
      eventually(() -> assertThat(activator.held.total()).isGreaterThan(BOUND_BYTES / 2));
      try (var late = RawHttp2.caller(activator.connect())) {
        upload(late, 1, "/1");
        send(late, taken, 20_000);
        int window = nextWindow(late);
        assertThat(window).isEqualTo(4 << 10);
        late.frame(RawHttp2.SETTINGS, RawHttp2.ACK, 0, new byte[0]);

        assertThat(window - 20_000 + given(late)).isPositive();
        late.reset(1, 8);
      }
      for (int stream = 1; stream < 9; stream += 2) {
        others.reset(stream, 8);
      }
    }
  }

  /** A pod in HTTP/2 that reads only the bodies of requests for this path. Permits are its bytes. */
  private Semaphore podThatReads(String path) throws Exception {
    var taken = new Semaphore(0);
    pod(peer -> {
      var pod = RawHttp2.pod(peer, RawHttp2.INITIAL_WINDOW_SIZE, 0);
      while (true) {
        var frame = pod.read();
        if (frame.type() == RawHttp2.HEADERS && path.equals(frame.field(":path"))) {
          pod.window(frame.stream(), 64 << 10);
        } else if (frame.type() == RawHttp2.DATA) {
          taken.release(frame.payload().length);
        }
      }
    });
    return taken;
  }

  private static void send(RawHttp2 caller, Semaphore taken, int bytes) throws Exception {
    for (int sent = 0; sent < bytes; sent += 10_000) {
      caller.data(1, false, new byte[10_000]);
    }
    assertThat(taken.tryAcquire(bytes, 120, TimeUnit.SECONDS)).isTrue();
  }

  /** What the WINDOW_UPDATEs for stream 1 give until the answer to a PING. */
  private static int given(RawHttp2 caller) throws Exception {
    int more = 0;
    caller.frame(RawHttp2.PING, 0, 0, new byte[8]);
    for (var frame = caller.readAny(); frame.type() != RawHttp2.PING; frame = caller.readAny()) {
      more += frame.type() == RawHttp2.WINDOW_UPDATE && frame.stream() == 1 ? frame.number() : 0;
    }
    return more;
  }

  private static void upload(RawHttp2 caller, int stream, String path) throws Exception {
    caller.headers(stream, false, ":method", "POST", ":scheme", "http", ":path", path,
        ":authority", "x", "knative-serving-namespace", "default", "knative-serving-revision",
        "hello-00001");
  }

  /** Sends parts of stream 1, and returns the window that is left. */
  private static int send(RawHttp2 caller, int window, int bytes, int part, Semaphore taken)
      throws Exception {
    int left = window;
    for (int sent = 0; sent < bytes; sent += part) {
      caller.data(1, false, new byte[part]);
      assertThat(taken.tryAcquire(part, 120, TimeUnit.SECONDS)).isTrue();
      left -= part;
      caller.frame(RawHttp2.PING, 0, 0, new byte[8]);
      for (var frame = caller.readAny(); frame.type() != RawHttp2.PING; frame = caller.readAny()) {
        if (frame.type() == RawHttp2.WINDOW_UPDATE && frame.stream() == 1) {
          left += frame.number();
        }
      }
    }
    return left;
  }

  private static void upload(RawHttp2 caller, int stream) throws Exception {
    caller.headers(stream, false, ":method", "POST", ":scheme", "http", ":path", "/",
        ":authority", "x", "knative-serving-namespace", "default", "knative-serving-revision",
        "hello-00001");
  }

  /** The window of streams in the next SETTINGS that have one. */
  private static int nextWindow(RawHttp2 caller) throws Exception {
    while (true) {
      var frame = caller.readAny();
      if (frame.type() == RawHttp2.SETTINGS) {
        var settings = ByteBuffer.wrap(frame.payload());
        while (settings.hasRemaining()) {
          int setting = settings.getShort();
          int value = settings.getInt();
          if (setting == RawHttp2.INITIAL_WINDOW_SIZE) {
            return value;
          }
        }
      }
    }
  }
}
