package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Long bodies, and slow readers of them. */
class StreamingTest extends WireTest {
  private static final int MIB = 1 << 20;
  /** What kernels buffer for three sockets, and a little of ours. A body is many times longer. */
  private static final long BUFFERED_AT_MOST = 64L * MIB;

  @Test
  @DisplayName("passes each chunk on at once")
  void passesEachChunkOnAtOnce() throws Exception {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
          + "Transfer-Encoding: chunked\r\n\r\n");
      for (int i = 0; i < 10; i++) {
        String event = event(events);
        caller.send(Integer.toHexString(event.length()) + "\r\n" + event + "\r\n");
      }
      caller.send("0\r\n\r\n");
      caller.awaitEnd();
    });
    try (var caller = activator.get("/")) {
      caller.readHead();
      for (int i = 0; i < 10; i++) {
        // The next event is only sent when this one has arrived.
        events.add("data: " + i + "\n\n");
        assertThat(caller.readChunk()).isEqualTo("data: " + i + "\n\n");
      }
      assertThat(caller.readChunk()).isEmpty();
    }
  }

  @Test
  void passesEachPartOfARequestOnAtOnce() throws Exception {
    BlockingQueue<String> parts = new LinkedBlockingQueue<>();
    pod(caller -> {
      caller.readHead();
      for (String part = caller.readChunk(); !part.isEmpty(); part = caller.readChunk()) {
        parts.add(part);
      }
      caller.readHeadLines();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Transfer-Encoding: chunked");
      for (int i = 0; i < 10; i++) {
        caller.send("3\r\n<" + i + ">\r\n");
        assertThat(next(parts)).isEqualTo("<" + i + ">");
      }
      caller.send("0\r\n\r\n");
      assertThat(response(caller)).isEqualTo("200 ");
    }
  }

  @Test
  void takesNoMoreOfAnUploadThanThePodDoes() throws Exception {
    long length = 256L * MIB;
    var go = new CountDownLatch(1);
    BlockingQueue<Long> received = new LinkedBlockingQueue<>();
    pod(caller -> {
      caller.readHead();
      await(go);
      received.add(caller.drain(length));
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "PUT / HTTP/1.1", "Content-Length: " + length);
      var upload = Flood.ofAll(caller, length);

      assertThat(upload.sentAtRest()).isLessThan(BUFFERED_AT_MOST);
      go.countDown();

      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(next(received)).isEqualTo(length);
    }
  }

  @Test
  void takesNoMoreOfADownloadThanTheCallerDoes() throws Exception {
    long length = 256L * MIB;
    BlockingQueue<Flood> downloads = new LinkedBlockingQueue<>();
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n");
      downloads.add(Flood.ofAll(caller, length));
      caller.awaitEnd();
    });
    try (var caller = activator.get("/")) {
      caller.readHead();

      assertThat(next(downloads).sentAtRest()).isLessThan(BUFFERED_AT_MOST);
      assertThat(caller.drain(length)).isEqualTo(length);
    }
  }

  @Test
  @DisplayName("carries both bodies at the same time")
  void carriesBothBodiesAtTheSameTime() throws Exception {
    long length = 32L * MIB;
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n");
      byte[] piece = new byte[64 << 10];
      for (long all = 0; all < length; all += piece.length) {
        if (caller.drain(piece.length) != piece.length) {
          throw new IOException("the upload ended early");
        }
        caller.send(piece);
      }
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST /echo HTTP/1.1", "Content-Length: " + length);
      Flood.ofAll(caller, length);
      caller.readHead();
      assertThat(caller.drain(length)).isEqualTo(length);
    }
  }

  @Test
  @DisplayName("notices that the caller of a slow pod is gone")
  void noticesThatTheCallerOfASlowPodIsGone() throws Exception {
    BlockingQueue<String> ended = new LinkedBlockingQueue<>();
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
      Flood.into(caller);
      caller.awaitEnd();
      ended.add("ended");
    });
    RawPeer caller = activator.get("/");
    caller.readHead();
    assertThat(caller.drain(MIB)).isEqualTo(MIB);

    caller.close();

    assertThat(next(ended)).isEqualTo("ended");
    eventually(() -> assertThat(activator.throttle.abandoned).hasValue(1));
  }

  private static String event(BlockingQueue<String> events) throws IOException {
    try {
      return next(events);
    } catch (InterruptedException stopped) {
      throw new IOException(stopped);
    }
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      throw new IOException(stopped);
    }
  }
}
