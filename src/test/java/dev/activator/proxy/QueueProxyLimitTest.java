package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Over sockets: a pod that ends a begun response at the limit that the activator has, too. A second request, to a pod without
 * queue-proxy, begins later and is broken off at the same limit; so the first one's limit is over then.
 */
class QueueProxyLimitTest extends Http2WireTest {
  /** Two seconds by the clock of the test. */
  private static final Duration LIMIT = Duration.ofMillis(100);

  private final CountDownLatch limitIsOver = new CountDownLatch(1);
  private final Map<String, PodStream> streams = new ConcurrentHashMap<>();

  private record PodStream(RawHttp2 pod, int id) {}

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  /** @param probe null where a queue-proxy answers */
  private void revision(PortProtocol protocol, @Nullable ReadinessProbeSpec probe) {
    activator.revisions.put(new Revision(Activator.HELLO, "", protocol, 0,
        new RequestTimeouts(LIMIT, Duration.ZERO, Duration.ZERO), true, probe, Map.of(), Map.of(),
        null));
  }

  private void awaitLimit() {
    try {
      limitIsOver.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void passesOnWhatTheQueueProxySaysAtTheLimit() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n");
      awaitLimit();
      caller.send("f\r\nrequest timeout\r\n0\r\n\r\n");
      caller.awaitEnd();
    });
    revision(PortProtocol.HTTP1, null);
    try (var ended = activator.get("/"); var other = begun(ended)) {
      assertThat(other.readToEnd()).as("what follows at the limit").isEmpty();
      limitIsOver.countDown();

      assertThat(ended.readChunk()).isEqualTo("request timeout");
      assertThat(ended.readChunk()).as("the last chunk").isEmpty();
    }
  }

  /** Reads the first bytes of the one, and begins another to a pod without queue-proxy. */
  private RawPeer begun(RawPeer first) throws Exception {
    assertThat(first.readHead().start()).isEqualTo("HTTP/1.1 200 OK");
    assertThat(first.readChunk()).isEqualTo("begun");
    revision(PortProtocol.HTTP1, ReadinessProbeSpec.CONNECT);
    var second = activator.get("/");
    assertThat(second.readHead().start()).isEqualTo("HTTP/1.1 200 OK");
    assertThat(second.readChunk()).isEqualTo("begun");
    return second;
  }

  @Test
  void passesOnWhatTheQueueProxySaysAtTheLimit_inHttp2() throws Exception {
    pod((pod, frame) -> {
      if (frame.ends()) {
        pod.headers(frame.stream(), false, ":status", "200");
        pod.data(frame.stream(), false, "begun");
        streams.put(frame.field(":path"), new PodStream(pod, frame.stream()));
      } else if (frame.type() == RawHttp2.RST_STREAM) {
        // The other is broken off, maybe on another connection.
        var ended = streams.get("/ended");
        ended.pod.data(ended.id, true, "request timeout");
      }
    });
    revision(PortProtocol.H2C, null);
    try (var caller = connect()) {
      caller.headers(1, true, get("/ended"));
      assertThat(caller.read(RawHttp2.HEADERS).field(":status")).isEqualTo("200");
      assertThat(caller.read(RawHttp2.DATA).text()).isEqualTo("begun");
      revision(PortProtocol.H2C, ReadinessProbeSpec.CONNECT);
      caller.headers(3, true, get("/"));
      assertThat(caller.read(RawHttp2.HEADERS).stream()).isEqualTo(3);
      assertThat(caller.read(RawHttp2.DATA).text()).isEqualTo("begun");

      var broken = caller.read(RawHttp2.RST_STREAM);
      assertThat(broken.stream()).isEqualTo(3);
      var ended = caller.read(RawHttp2.DATA);
      assertThat(ended.stream()).isEqualTo(1);
      assertThat(ended.text()).isEqualTo("request timeout");
      assertThat(ended.ends()).isTrue();
    }
  }
}
