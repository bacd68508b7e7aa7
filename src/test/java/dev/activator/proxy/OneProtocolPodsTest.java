package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.testing.Make;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.upstream.HttpProbeClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pods that speak HTTP/1 only, with callers of both versions: the product's prober and permits. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time.
class OneProtocolPodsTest extends WireTest {
  private static final int PODS = 3;
  private static final int CALLERS = 10;
  private static final int REQUESTS = 50;

  /** What a pod that speaks only HTTP/1 does with the first bytes of an HTTP/2 connection. */
  enum ToHttp2 {
    REFUSES {
      @Override
      void answer(RawPeer caller) throws IOException {
        caller.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      }
    },
    TAKES_IT_FOR_A_REQUEST {
      @Override
      void answer(RawPeer caller) throws IOException {
        caller.send(ANSWER);
        caller.awaitEnd();
      }
    },
    CLOSES {
      @Override
      void answer(RawPeer caller) {}
    },
    SAYS_NOTHING {
      @Override
      void answer(RawPeer caller) throws IOException {
        caller.awaitEnd();
      }
    };

    abstract void answer(RawPeer caller) throws IOException;
  }

  private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue";

  private final Queue<HealthyDestinations> published = new ConcurrentLinkedQueue<>();
  private final Queue<Destination> unreachable = new ConcurrentLinkedQueue<>();
  private final List<Thread> callers = new ArrayList<>();
  private final Queue<String> toHttp1 = new ConcurrentLinkedQueue<>();
  private final Queue<String> toHttp2 = new ConcurrentLinkedQueue<>();
  private final AtomicInteger busy = new AtomicInteger();
  private final Queue<Exception> lost = new ConcurrentLinkedQueue<>();
  private RevisionBackendsManager backends;

  @BeforeEach
  void probeAndThrottle() {
    var revision = Revision.of(Activator.HELLO, 10);
    var loop = activator.loops.all().getFirst();
    var revisions = activator.revisions;
    var throttler = Quiescence
        .watch(Make.throttler(revisions.live, 1_000));
    backends = Make.backends(revisions.live, loop,
        Quiescence.watch(new HttpProbeClient(activator.upstreams, 5_000)));
    backends.healthy().subscribe("test", published::add);
    backends.healthy().subscribe("test", throttler::onDestinations);
    throttler.unreachable().subscribe("test", now -> unreachable.add(now.destination()));
    throttler.unreachable().subscribe("backends",
        now -> backends.onUnreachable(now.revision(), now.destination()));
    var live = revisions.put(revision);
    throttler.onRevision(live);
    backends.revision(live);
    activator.admission = throttler::admit;
  }

  private void pods(ToHttp2 answer) throws IOException {
    var all = new ArrayList<Destination>();
    for (int i = 0; i < PODS; i++) {
      all.add(idlePod(caller -> {
        while (true) {
          var head = caller.readHead();
          if (head.start().startsWith("PRI ")) {
            answer.answer(caller);
            return;
          }
          caller.readBody(head);
          caller.send(ANSWER);
        }
      }).destination());
    }
    backends.listed(new PrivateEndpoints(Activator.HELLO, listing(all), listing(all)));
    eventually(() -> assertThat(published).isNotEmpty()
        .last().matches(now -> now.pods().size() == PODS));
  }

  private static PodsByReadiness listing(List<Destination> pods) {
    return new PodsByReadiness(DestinationSet.of(pods), DestinationSet.NONE);
  }

  @ParameterizedTest
  @EnumSource(names = "SAYS_NOTHING", mode = EnumSource.Mode.EXCLUDE)
  void stayGoodForCallersOfHttp1UnderCallersOfHttp2(ToHttp2 answer) throws Exception {
    callInBothVersions(answer);

    assertThat(toHttp2).allMatch(response -> response.startsWith("502 the pod does not "));
    // and no pod was unreachable, but where a busy machine kept its first answers for a second
    assertThat(List.copyOf(unreachable)).hasSizeLessThanOrEqualTo(2 * CALLERS);
  }

  /** It may just be slow: other pods are tried, and it is probed. */
  @Test
  void stayGoodThoughTheySayNothingInHttp2() throws Exception {
    callInBothVersions(ToHttp2.SAYS_NOTHING);

    // If the callers' attempts overlap for ten seconds, one connection is silent for that long.
    assertThat(toHttp2).allMatch(response -> response.startsWith("502 timed out connecting")
        || response.startsWith("502 the pod does not answer in HTTP/2"))
        // and silence alone does not count as a refusal, which would be answered at once
        .anyMatch(response -> response.startsWith("502 timed out connecting"));
  }

  private void callInBothVersions(ToHttp2 answer) throws Exception {
    // given pods that answer probes, and callers of HTTP/2 that go on until they are told
    pods(answer);
    var over = new AtomicBoolean();
    for (int i = 0; i < CALLERS; i++) {
      call(() -> {
        try (var caller = RawHttp2.caller(activator.connect())) {
          for (int stream = 1; !over.get(); stream += 2) {
            caller.headers(stream, true, SecuredTest.HEAD);
            toHttp2.add(caller.response(stream));
          }
        }
      });
    }

    // when as many callers of HTTP/1 send their requests
    var http1 = new ArrayList<Thread>();
    for (int i = 0; i < CALLERS; i++) {
      http1.add(call(() -> {
        try (var caller = activator.connect()) {
          for (int request = 0; request < REQUESTS; request++) {
            var received = askInHttp1(caller);
            while (received.startsWith("502 timed out connecting")) {
              // The pod's thread that accepts waits for a core.
              busy.incrementAndGet();
              received = askInHttp1(caller);
            }
            toHttp1.add(received);
          }
        }
      }));
    }
    join(http1);
    over.set(true);
    join(callers);

    // then the ones are answered by the pods, the others by us
    assertThat(lost).isEmpty();
    assertThat(toHttp1).hasSize(CALLERS * REQUESTS).containsOnly("200 queue");
    assertThat(busy).hasValueLessThan(REQUESTS / 2);
    assertThat(toHttp2).hasSizeGreaterThanOrEqualTo(CALLERS);
  }

  private static String askInHttp1(RawPeer caller) throws IOException {
    Activator.request(caller, "GET / HTTP/1.1");
    return response(caller);
  }

  private interface Calls {
    void run() throws Exception;
  }

  private Thread call(Calls calls) {
    var caller = Thread.ofVirtual().start(() -> {
      try {
        calls.run();
      } catch (Exception failure) {
        lost.add(failure);
      }
    });
    callers.add(caller);
    return caller;
  }

  private static void join(List<Thread> threads) throws InterruptedException {
    for (var thread : threads) {
      assertThat(thread.join(Duration.ofMinutes(2))).isTrue();
    }
  }
}
