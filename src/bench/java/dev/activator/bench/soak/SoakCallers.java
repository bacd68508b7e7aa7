package dev.activator.bench.soak;

import static dev.activator.bench.soak.SoakDrill.pause;

import dev.activator.bench.soak.SoakCluster.Deployed;
import dev.activator.bench.soak.SoakConnection.Request;
import dev.activator.bench.soak.SoakCounts.Kind;
import dev.activator.testing.Certificate;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;

/**
 * The callers of the soak, each with a thread and a schedule of its own.
 *
 * <p><b>Threads.</b> Virtual ones, which wait in blocking calls.
 */
final class SoakCallers {
  private static final int SLOW_BYTES = 1_000_000;
  private static final int SLOW_PART = 16 << 10;
  private static final int CANCEL = 8;

  /** Where the activator takes requests. */
  record Ports(int http1, int h2c, int https) {}

  private final SoakCluster cluster;
  private final SoakCounts counts;
  private final Ports ports;
  private final double rate;
  private final SSLContext trust = Certificate.trustEverything();
  private volatile Phaser running = new Phaser(1);
  private final Set<RawPeer> open = ConcurrentHashMap.newKeySet();
  private final Set<X509Certificate> certificates = ConcurrentHashMap.newKeySet();
  private final AtomicInteger created = new AtomicInteger();
  private volatile boolean stopped;

  /** Never loses a pod. */
  private final Deployed steady;
  /** The same, with fewer permits than requests: they queue. */
  private final Deployed narrow;
  /** Its pods are replaced in order. */
  private final Deployed rolled;
  /** Their pods are killed. */
  private final List<Deployed> shaky;
  /** At zero, for ever. */
  private final Deployed never;
  private final List<Deployed> cold;

  SoakCallers(SoakCluster cluster, SoakCounts counts, Ports ports, double rate)
      throws GeneralSecurityException {
    this.cluster = cluster;
    this.counts = counts;
    this.ports = ports;
    this.rate = rate;
    steady = cluster.create("steady", 0, 3);
    narrow = cluster.create("narrow", 2, 2);
    rolled = cluster.create("rolled", 0, 3);
    shaky = List.of(cluster.create("shaky-0", 0, 3), cluster.create("shaky-1", 5, 3));
    never = cluster.create("never", 0, 0);
    never.staysAtZero();
    cold = IntStream.range(0, 4).mapToObj(i -> cluster.create("cold-" + i, i, 0)).toList();
  }

  /** How many certificates of the activator were seen. */
  int certificates() {
    return certificates.size();
  }

  void start() {
    stopped = false;
    running = new Phaser(1);
    for (int i = 0; i < 4; i++) {
      repeat(Duration.ofMillis(250), () -> http1(Kind.HTTP1));
      repeat(Duration.ofSeconds(1), () -> http2(Kind.HTTP2));
    }
    repeat(Duration.ofSeconds(1), () -> http1(Kind.HTTP1_TLS));
    repeat(Duration.ofSeconds(2), () -> http2(Kind.HTTP2_TLS));
    repeat(Duration.ofSeconds(1), this::stream);
    repeat(Duration.ofSeconds(1), this::webSocket);
    repeat(Duration.ofSeconds(2), this::slow1);
    repeat(Duration.ofSeconds(2), this::slow2);
    repeat(Duration.ofSeconds(2), this::unread1);
    repeat(Duration.ofSeconds(2), this::unread2);
    repeat(Duration.ofMillis(500), this::leavesBody1);
    repeat(Duration.ofMillis(500), this::leavesBody2);
    repeat(Duration.ofMillis(700), this::leavesQueue1);
    repeat(Duration.ofMillis(700), this::leavesQueue2);
    repeat(Duration.ofSeconds(1), this::deadline1);
    repeat(Duration.ofSeconds(30), this::deadlines2);
    cold.forEach(revision -> repeat(Duration.ofSeconds(2), () -> coldStart(revision)));
    repeat(Duration.ofSeconds(1), () -> start(this::newRevision));

    repeat(Duration.ofSeconds(20),
        () -> cluster.kill(shaky.get(ThreadLocalRandom.current().nextInt(shaky.size()))));
    repeat(Duration.ofSeconds(20), () -> cluster.roll(rolled, 3));
  }

  /** Requests that must not fail while the activator ends: no pod is killed, and nobody leaves. */
  void startLightly() {
    stopped = false;
    running = new Phaser(1);
    for (int i = 0; i < 4; i++) {
      repeat(Duration.ofMillis(250), () -> http1(Kind.HTTP1));
      repeat(Duration.ofSeconds(1), () -> http2(Kind.HTTP2));
    }
    repeat(Duration.ofSeconds(1), () -> http1(Kind.HTTP1_TLS));
    repeat(Duration.ofSeconds(2), () -> http2(Kind.HTTP2_TLS));
    repeat(Duration.ofSeconds(1), this::stream);
  }

  private interface Task {
    void run() throws IOException;
  }

  /** Until the end of the load, with pauses of this length on average, shorter at a higher rate. */
  private void repeat(Duration pause, Task task) {
    start(() -> {
      while (!stopped) {
        pause(Duration.ofNanos((long) (pause.toNanos() / rate
            * (0.5 + ThreadLocalRandom.current().nextDouble()))), () -> stopped);
        if (!stopped) {
          quietly(task);
        }
      }
    });
  }

  private void start(Task task) {
    var phaser = running;
    phaser.register();
    Thread.startVirtualThread(() -> {
      try {
        quietly(task);
      } finally {
        phaser.arriveAndDeregister();
      }
    });
  }

  private void quietly(Task task) {
    try {
      task.run();
    } catch (IOException | RuntimeException | AssertionError e) {
      if (!stopped) {
        counts.failed(e);
      }
    }
  }

  /** No new requests; those that run may end, then the rest is cut. Returns how many were cut. */
  int stop(Duration patience) throws InterruptedException {
    stopped = true;
    int phase = running.arrive();
    try {
      running.awaitAdvanceInterruptibly(phase, patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // Those are cut below.
    }
    int left = open.size();
    for (var peer : open) {
      quietly(peer::cut);
    }
    return left;
  }

  /** Leaves the cluster as it was before the load, without the revisions that were made meanwhile. */
  void restore() {
    for (var name : cluster.revisions()) {
      var revision = cluster.find(name);
      if (revision != null && name.startsWith("new-")) {
        cluster.delete(revision);
      }
    }
    cold.forEach(revision -> cluster.scale(revision, 0));
  }

  private interface Conversation {
    void with(RawPeer peer) throws IOException;
  }

  private void connected(RawPeer peer, Conversation conversation) throws IOException {
    open.add(peer);
    try (peer) {
      conversation.with(peer);
    } finally {
      open.remove(peer);
    }
  }

  private RawPeer tls(String protocol) throws IOException {
    var peer = RawPeer.connectOverTls(ports.https, trust, protocol);
    peer.tls().startHandshake();
    certificates.add((X509Certificate) peer.tls().getSession().getPeerCertificates()[0]);
    return peer;
  }

  private SoakConnection.Ended counted(Kind kind) {
    return (request, end) -> counts.count(kind, request.revision(), request.id(), request.begun(),
        end);
  }

  /** A request for a running revision. */
  private Request warm() {
    var random = ThreadLocalRandom.current();
    var revision = switch (random.nextInt(8)) {
      case 0, 1, 2 -> steady;
      case 3, 4 -> narrow;
      case 5 -> rolled;
      default -> shaky.get(random.nextInt(shaky.size()));
    };
    var id = counts.nextId();
    return random.nextBoolean() || revision == rolled
        ? Request.delayed(revision, id, random.nextInt(5, 80))
        : Request.echoed(revision, id, "x".repeat(random.nextInt(1, 12_000)));
  }

  private void http1(Kind kind) throws IOException {
    connected(kind == Kind.HTTP1 ? RawPeer.connect(ports.http1) : tls("http/1.1"), peer -> {
      int left = ThreadLocalRandom.current().nextInt(1, 20);
      while (left-- > 0 && !stopped && SoakConnection.over1(peer, warm(), counted(kind))) {
        pause(Duration.ofMillis((long) (250 / rate)), () -> stopped);
      }
    });
  }

  private void http2(Kind kind) throws IOException {
    connected(kind == Kind.HTTP2 ? RawPeer.connect(ports.h2c) : tls("h2"), peer -> {
      var http2 = RawHttp2.caller(peer);
      int rounds = ThreadLocalRandom.current().nextInt(1, 30);
      int stream = 1;
      boolean goesOn = true;
      while (goesOn && rounds-- > 0 && !stopped) {
        var requests = IntStream.range(0, 4).mapToObj(_ -> warm()).toList();
        goesOn = SoakConnection.over2(http2, stream, requests, counted(kind));
        stream += 2 * requests.size();
        pause(Duration.ofMillis((long) (1_000 / rate)), () -> stopped);
      }
    });
  }

  /** Messages in both directions, as long as the stream is open. */
  private void stream() throws IOException {
    connected(RawPeer.connect(ports.h2c), peer -> {
      var http2 = RawHttp2.caller(peer);
      var revision = ThreadLocalRandom.current().nextBoolean() ? steady : shaky.getFirst();
      var request = new Request(revision, counts.nextId(), "/stream", "", new HashMap<>(), "",
          System.nanoTime());
      String end = "no response";
      try {
        http2.headers(1, false, SoakConnection.head2(request));
        boolean whole = true;
        for (int i = ThreadLocalRandom.current().nextInt(1, 12); i > 0; i--) {
          var message = "message " + i + " of " + request.id();
          http2.data(1, false, message);
          var received = new StringBuilder();
          while (received.length() < message.length()) {
            var frame = http2.read();
            if (frame.type() == RawHttp2.RST_STREAM || frame.ends()) {
              throw new IOException("reset");
            }
            if (frame.type() == RawHttp2.HEADERS) {
              end = "broken off";
              whole &= "200".equals(frame.field(":status"));
            } else if (frame.type() == RawHttp2.DATA) {
              received.append(frame.text());
            }
          }
          whole &= received.toString().equals(message);
          pause(Duration.ofMillis(300), () -> stopped);
        }
        http2.data(1, true, "");
        var last = http2.read(RawHttp2.HEADERS);
        end = whole && "0".equals(last.field("grpc-status")) ? "200" : SoakConnection.WRONG;
      } catch (IOException e) {
        // As it stands.
      }
      counted(Kind.STREAM).with(request, end);
    });
  }

  private void webSocket() throws IOException {
    connected(RawPeer.connect(ports.http1), peer -> {
      var revision = ThreadLocalRandom.current().nextBoolean() ? steady : shaky.getFirst();
      var request = new Request(revision, counts.nextId(), "/websocket", null, new HashMap<>(), "",
          System.nanoTime());
      String end = "no response";
      try {
        peer.send(SoakConnection.head1(request, "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="));
        var head = peer.readHead();
        if (!head.start().contains(" 101 ")) {
          end = head.start().split(" ")[1];
          throw new IOException(end);
        }
        end = "broken off";
        for (int i = ThreadLocalRandom.current().nextInt(1, 40); i > 0 && !stopped; i--) {
          var text = "message " + i + " of " + request.id();
          peer.send(SoakConnection.webSocketFrame(1, text));
          if (!peer.read(2 + text.length()).endsWith(text)) {
            end = SoakConnection.WRONG;
            throw new IOException(end);
          }
          pause(Duration.ofMillis(500), () -> stopped);
        }
        if (ThreadLocalRandom.current().nextBoolean()) {
          peer.send(SoakConnection.webSocketFrame(8, "\u0003\u00e8"));
          peer.awaitEnd();
        } else {
          peer.reset();
        }
        end = "closed";
      } catch (IOException e) {
        // As it stands.
      }
      counted(Kind.WEB_SOCKET).with(request, end);
    });
  }

  private Request large(Deployed revision, int bytes) {
    return new Request(revision, counts.nextId(), "/bytes/" + bytes, null, new HashMap<>(), "",
        System.nanoTime());
  }

  private void slow1() throws IOException {
    connected(RawPeer.connectWithSmallBuffer(ports.http1), peer -> {
      var request = large(steady, SLOW_BYTES);
      String end = "no response";
      try {
        peer.send(SoakConnection.head1(request));
        end = peer.readHead().start().split(" ")[1];
        long left = SLOW_BYTES;
        while (left > 0) {
          long read = peer.drain(Math.min(left, 2 * SLOW_PART));
          if (read == 0) {
            throw new IOException("ended");
          }
          left -= read;
          pause(Duration.ofMillis(100), () -> stopped);
        }
      } catch (IOException e) {
        end = "broken off";
      }
      counted(Kind.SLOW).with(request, end);
    });
  }

  private void slow2() throws IOException {
    connected(RawPeer.connect(ports.h2c), peer -> {
      var http2 = RawHttp2.caller(peer, RawHttp2.INITIAL_WINDOW_SIZE, SLOW_PART);
      var request = large(steady, SLOW_BYTES);
      String end = "no response";
      try {
        http2.headers(1, true, SoakConnection.head2(request));
        long left = SLOW_BYTES;
        int unread = 0;
        while (left > 0) {
          var frame = http2.read();
          if (frame.type() == RawHttp2.HEADERS) {
            end = String.valueOf(frame.field(":status"));
          } else if (frame.type() == RawHttp2.DATA) {
            left -= frame.payload().length;
            unread += frame.payload().length;
            if (unread >= SLOW_PART) {
              pause(Duration.ofMillis(50), () -> stopped);
              http2.window(1, unread).window(0, unread);
              unread = 0;
            }
          } else {
            throw new IOException("reset");
          }
        }
      } catch (IOException e) {
        end = "broken off";
      }
      counted(Kind.SLOW).with(request, end);
    });
  }

  private void unread1() throws IOException {
    connected(RawPeer.connectWithSmallBuffer(ports.http1), peer -> {
      var request = large(steady, 3 * SLOW_BYTES);
      peer.send(SoakConnection.head1(request));
      leave(peer, Duration.ofSeconds(8));
      counted(Kind.UNREAD).with(request, "left");
    });
  }

  private void unread2() throws IOException {
    connected(RawPeer.connect(ports.h2c), peer -> {
      var http2 = RawHttp2.caller(peer);
      var requests = IntStream.range(0, 8).mapToObj(_ -> large(steady, SLOW_BYTES)).toList();
      for (int i = 0; i < requests.size(); i++) {
        http2.headers(2 * i + 1, true, SoakConnection.head2(requests.get(i)));
      }
      pause(Duration.ofSeconds(ThreadLocalRandom.current().nextInt(1, 8)), () -> stopped);
      for (int i = 0; i < requests.size(); i += 2) {
        http2.reset(2 * i + 1, CANCEL);
      }
      leave(peer, Duration.ofMillis(500));
      requests.forEach(request -> counted(Kind.UNREAD).with(request, "left"));
    });
  }

  /** After a while, in order or with a reset. */
  private void leave(RawPeer peer, Duration atMost) throws IOException {
    pause(Duration.ofMillis(ThreadLocalRandom.current().nextLong(atMost.toMillis())),
        () -> stopped);
    if (ThreadLocalRandom.current().nextBoolean()) {
      peer.reset();
    } else {
      peer.close();
    }
  }

  private Deployed runningOrAtZero() {
    return switch (ThreadLocalRandom.current().nextInt(3)) {
      case 0 -> steady;
      case 1 -> narrow;
      default -> never;
    };
  }

  private void leavesBody1() throws IOException {
    connected(RawPeer.connect(ports.http1), peer -> {
      var request = Request.echoed(runningOrAtZero(), counts.nextId(), "");
      peer.send(SoakConnection.head1(request, "Content-Length: 200000")
          + "x".repeat(ThreadLocalRandom.current().nextInt(100_000)));
      leave(peer, Duration.ofSeconds(1));
      counted(Kind.LEFT_BODY).with(request, "left");
    });
  }

  private void leavesBody2() throws IOException {
    connected(RawPeer.connect(ports.h2c), peer -> {
      var http2 = RawHttp2.caller(peer);
      var request = Request.echoed(runningOrAtZero(), counts.nextId(), "");
      http2.headers(1, false, SoakConnection.head2(request));
      http2.data(1, false, "x".repeat(ThreadLocalRandom.current().nextInt(16_000)));
      pause(Duration.ofMillis(ThreadLocalRandom.current().nextInt(1_000)), () -> stopped);
      if (ThreadLocalRandom.current().nextBoolean()) {
        http2.reset(1, CANCEL);
      }
      leave(peer, Duration.ofMillis(200));
      counted(Kind.LEFT_BODY).with(request, "left");
    });
  }

  private void leavesQueue1() throws IOException {
    connected(RawPeer.connect(ports.http1), peer -> {
      var request = Request.delayed(never, counts.nextId(), 0);
      peer.send(SoakConnection.head1(request));
      leave(peer, Duration.ofSeconds(3));
      counted(Kind.LEFT_QUEUE).with(request, "left");
    });
  }

  private void leavesQueue2() throws IOException {
    connected(RawPeer.connect(ports.h2c), peer -> {
      var http2 = RawHttp2.caller(peer);
      var requests = IntStream.range(0, 3)
          .mapToObj(_ -> Request.delayed(never, counts.nextId(), 0)).toList();
      for (int i = 0; i < requests.size(); i++) {
        http2.headers(2 * i + 1, true, SoakConnection.head2(requests.get(i)));
      }
      pause(Duration.ofMillis(ThreadLocalRandom.current().nextInt(3_000)), () -> stopped);
      http2.reset(3, CANCEL);
      leave(peer, Duration.ofMillis(200));
      requests.forEach(request -> counted(Kind.LEFT_QUEUE).with(request, "left"));
    });
  }

  private void deadline1() throws IOException {
    connected(RawPeer.connect(ports.http1),
        peer -> SoakConnection.over1(peer, Request.delayed(never, counts.nextId(), 0)
            .with("grpc-timeout", ThreadLocalRandom.current().nextInt(1, 900) + "m"),
            counted(Kind.DEADLINE)));
  }

  /** Many streams at once whose deadline is over when they arrive. */
  private void deadlines2() throws IOException {
    connected(RawPeer.connect(ports.h2c), peer -> {
      var http2 = RawHttp2.caller(peer);
      var requests = new ArrayList<Request>();
      for (int i = 0; i < 200; i++) {
        requests.add(Request.delayed(runningOrAtZero(), counts.nextId(), 0)
            .with("grpc-timeout", "1n"));
      }
      SoakConnection.over2(http2, 1, requests, counted(Kind.DEADLINE));
    });
  }

  private void coldStart(Deployed revision) throws IOException {
    var random = ThreadLocalRandom.current();
    var ended = counted(Kind.COLD);
    var all = new Phaser(1);
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      all.register();
      start(() -> {
        try {
          connected(RawPeer.connect(ports.http1), peer -> SoakConnection.over1(peer,
              Request.echoed(revision, counts.nextId(), "x".repeat(random.nextInt(1, 3_000))),
              ended));
        } finally {
          all.arriveAndDeregister();
        }
      });
    }
    connected(RawPeer.connect(ports.h2c),
        peer -> SoakConnection.over2(RawHttp2.caller(peer), 1,
            IntStream.range(0, random.nextInt(1, 8))
                .mapToObj(_ -> Request.delayed(revision, counts.nextId(), 5)).toList(),
            ended));
    all.arriveAndAwaitAdvance();
    pause(Duration.ofMillis(random.nextInt(1_500)), () -> stopped);
    cluster.scale(revision, 0);
    pause(Duration.ofSeconds(2), () -> stopped);
  }

  /** The life of a revision: created, started by a request, used, deleted. */
  private void newRevision() throws IOException {
    var random = ThreadLocalRandom.current();
    int number = created.getAndIncrement();
    var revision = cluster.createBriefly("new-" + number, number % 3);
    boolean isDeletedEarly = number % 8 == 0;
    if (isDeletedEarly) {
      revision.staysAtZero();
    }
    if (!isKnown(revision)) {
      cluster.delete(revision);
      return;
    }
    if (isDeletedEarly) {
      start(() -> {
        pause(Duration.ofMillis(random.nextInt(300, 1_500)), () -> stopped);
        cluster.delete(revision);
      });
      request(revision, Kind.DELETED);
      return;
    }
    for (int i = 0; i < 3; i++) {
      request(revision, Kind.NEW);
      pause(Duration.ofMillis(random.nextInt(2_000)), () -> stopped);
    }
    pause(Duration.ofSeconds(random.nextInt(20)), () -> stopped);
    if (cluster.find(revision.name()) != null) {
      cluster.delete(revision);
    }
  }

  private void request(Deployed revision, Kind kind) throws IOException {
    var request = Request.delayed(revision, counts.nextId(), 1);
    if (ThreadLocalRandom.current().nextBoolean()) {
      connected(RawPeer.connect(ports.http1),
          peer -> SoakConnection.over1(peer, request, counted(kind)));
    } else {
      connected(RawPeer.connect(ports.h2c), peer -> SoakConnection.over2(RawHttp2.caller(peer), 1,
          List.of(request), counted(kind)));
    }
  }

  /** Waits until the activator knows a revision: before that it answers 404, as ingresses never see it. */
  private boolean isKnown(Deployed revision) throws IOException {
    while (!stopped) {
      pause(Duration.ofMillis(200), () -> stopped);
      var end = new ArrayList<String>();
      connected(RawPeer.connect(ports.http1),
          peer -> SoakConnection.over1(peer,
              Request.delayed(revision, counts.nextId(), 0).with("grpc-timeout", "1n"),
              (_, how) -> end.add(how)));
      if (!end.getFirst().equals("404")) {
        return true;
      }
    }
    return false;
  }
}
