package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that one side does not take as fast as the other sends them. */
class Http2WindowsTest extends Http2WireTest {
  @Test
  void takesNoMoreOfAnUploadThanThePodDoes() throws Exception {
    pod((pod, frame) -> {
    });
    try (var caller = connect()) {
      caller.read(RawHttp2.SETTINGS);
      caller.headers(1, false, head("POST", "/"));
      // The pod takes 64 KiB, and its connection holds as much. The window may be twice that.
      int sent = 0;
      for (int window = 64 << 10; window >= 16_384; window += moreWindow(caller)) {
        for (; window >= 16_384; window -= 16_384) {
          caller.data(1, false, new byte[16_384]);
          sent += 16_384;
        }
      }
      assertThat(sent).isBetween(4 * 16_384, 24 * 16_384);
      caller.reset(1, 8);
    }
  }

  /** So a caller that is far away is not held up by the way of a WINDOW_UPDATE. */
  @Test
  void widensTheWindowOfAnUpload_whileThePodTakesIt() throws Exception {
    // More comes when half of it is used.
    assertThat(windowAfterAnUpload()).isBetween(500 << 10, 1 << 20);
  }

  @Test
  void widensNoWindow_beyondWhatItsConnectionMayHave() throws Exception {
    startWith(Activator.Settings.DEFAULT.holding(256 << 10));

    assertThat(windowAfterAnUpload()).isBetween(64 << 10, 128 << 10);
    eventually(() -> assertThat(activator.held.share().windows().free()).isEqualTo(128 << 10));
  }

  /** The window of a stream after 4 MiB that the pod took as they came. */
  private int windowAfterAnUpload() throws Exception {
    var taken = new Semaphore(0);
    pod((peer, frame) -> {
      if (frame.type() == RawHttp2.DATA) {
        int length = frame.payload().length;
        peer.window(0, length).window(frame.stream(), length);
        taken.release(length);
      }
    });
    try (var caller = connect()) {
      caller.read(RawHttp2.SETTINGS);
      caller.headers(1, false, head("POST", "/"));
      int window = 64 << 10;
      for (int sent = 0; sent < 4 << 20; sent += 16_384) {
        caller.data(1, false, new byte[16_384]);
        assertThat(taken.tryAcquire(16_384, 120, TimeUnit.SECONDS)).isTrue();
        window += moreWindow(caller) - 16_384;
      }
      caller.reset(1, 8);
      return window;
    }
  }

  private static int moreWindow(RawHttp2 caller) throws IOException {
    return moreWindow(caller, 1);
  }

  /** By how much the window of a stream has grown when all that was sent has been read. */
  private static int moreWindow(RawHttp2 caller, int stream) throws IOException {
    caller.frame(RawHttp2.PING, 0, 0, new byte[8]);
    int more = 0;
    for (var frame = caller.readAny(); frame.type() != RawHttp2.PING; frame = caller.readAny()) {
      if (frame.type() == RawHttp2.WINDOW_UPDATE && frame.stream() == stream) {
        more += frame.number();
      }
    }
    return more;
  }

  @Test
  void takesNoMoreOfADownloadThanTheCallerDoes() throws Exception {
    pod((pod, frame) -> {
      if (frame.type() == RawHttp2.HEADERS) {
        pod.headers(frame.stream(), false, ":status", "200");
        for (int sent = 0; sent < 65_535; sent += 13_107) {
          pod.data(frame.stream(), false, new byte[13_107]);
        }
      }
    });
    try (var caller = connect(RawHttp2.INITIAL_WINDOW_SIZE, 1_000)) {
      caller.headers(1, true, get("/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().payload()).hasSize(1_000);

      // Another stream is not kept waiting.
      caller.headers(3, true, get("/", "k-network-probe", "activator"));
      assertThat(caller.response(3)).isEqualTo("200 activator");

      caller.window(0, 1_000).window(1, 64_535);
      int left = 64_535;
      while (left > 0) {
        left -= caller.read().payload().length;
      }
      assertThat(left).isZero();
      caller.reset(1, 8);
    }
  }

  @Test
  void widensTheWindowOfADownload_whileTheCallerTakesIt() throws Exception {
    var windows = new LinkedBlockingQueue<Integer>();
    pod(peer -> {
      var pod = RawHttp2.pod(peer);
      int stream = pod.read(RawHttp2.HEADERS).stream();
      pod.headers(stream, false, ":status", "200");
      int window = 16 << 10;
      for (int left = 4 << 20; left > 0; left -= 8_192) {
        pod.data(stream, false, new byte[8_192]);
        window += moreWindow(pod, stream) - 8_192;
      }
      windows.add(window);
      pod.data(stream, true, "");
      peer.awaitEnd();
    });
    try (var caller = connect(RawHttp2.INITIAL_WINDOW_SIZE, 8 << 20)) {
      caller.window(0, 8 << 20).headers(1, true, get("/"));
      int read = 0;
      for (var frame = caller.read(); !frame.ends(); frame = caller.read()) {
        read += frame.type() == RawHttp2.DATA ? frame.payload().length : 0;
      }
      assertThat(read).isEqualTo(4 << 20);
      assertThat(windows.poll(120, TimeUnit.SECONDS)).isBetween(500 << 10, 1 << 20);
    }
  }

  /** A body that fills the window exactly, and its end. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sendsTheEndOfAnUpload_whenThePodOpensNoWindowBeforeIt(boolean trailers) throws Exception {
    pod((pod, frame) -> {
      if (frame.ends()) {
        pod.headers(frame.stream(), true, ":status", "200");
      }
    }, RawHttp2.INITIAL_WINDOW_SIZE, 7);
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/")).data(1, false, "7 bytes");
      if (trailers) {
        caller.headers(1, true, "checksum", "1");
      } else {
        caller.data(1, true, "");
      }
      assertThat(caller.response(1)).isEqualTo("200 ");
    }
  }

  @Test
  void sendsTheEndOfAnUpload_whenThePodHasShrunkItsWindowBelowZero() throws Exception {
    var shrunk = new CountDownLatch(1);
    pod(peer -> {
      var pod = RawHttp2.pod(peer, RawHttp2.INITIAL_WINDOW_SIZE, 7);
      int stream = pod.read(RawHttp2.HEADERS).stream();
      pod.read(RawHttp2.DATA);
      pod.settings(RawHttp2.INITIAL_WINDOW_SIZE, 0);
      pod.read(RawHttp2.SETTINGS);
      shrunk.countDown();
      pod.read(RawHttp2.DATA);
      pod.headers(stream, true, ":status", "200");
      peer.awaitEnd();
    });
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/")).data(1, false, "7 bytes");
      assertThat(shrunk.await(120, TimeUnit.SECONDS)).isTrue();
      caller.data(1, true, "");
      assertThat(caller.response(1)).isEqualTo("200 ");
    }
  }
}
