package dev.activator.proxy;

import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/** Sends for as long as the other side takes it, on a thread of its own, and counts. */
public final class Flood {
  private final AtomicLong sent = new AtomicLong();
  private final CountDownLatch cutOff = new CountDownLatch(1);

  private Flood() {}

  static Flood into(RawPeer peer) {
    return of(peer, new byte[64 << 10]);
  }

  /** Sends this many bytes and no more. */
  static Flood ofAll(RawPeer peer, long bytes) {
    return start(peer, new byte[64 << 10], bytes);
  }

  /** Sends this many bytes in such pieces and no more. */
  public static Flood of(RawPeer peer, byte[] piece, long bytes) {
    return start(peer, piece, bytes);
  }

  public static Flood of(RawPeer peer, byte[] piece) {
    return start(peer, piece, Long.MAX_VALUE);
  }

  private static Flood start(RawPeer peer, byte[] piece, long most) {
    var flood = new Flood();
    Thread.ofVirtual().start(() -> {
      try {
        while (flood.sent.get() < most) {
          peer.send(piece);
          flood.sent.addAndGet(piece.length);
        }
      } catch (IOException ended) {
        // By the test, or by the other side.
        flood.cutOff.countDown();
      }
    });
    return flood;
  }

  /**
   * Waits until the connection is ended under it. First the kernel's buffers fill, and each frame of
   * some megabytes is looked at with all that tests of leaks write down: minutes on a busy machine.
   */
  void awaitCutOff() throws InterruptedException {
    if (!cutOff.await(5, TimeUnit.MINUTES)) {
      throw new AssertionError("it goes on after " + sent.get() + " bytes");
    }
  }

  /** What was sent when no more was taken for a while. A slow machine makes it less, not more. */
  long sentAtRest() {
    var last = new AtomicLong(-1);
    Awaitility.await().pollInterval(Duration.ofMillis(300))
        .until(() -> sent.get() > 0 && last.getAndSet(sent.get()) == sent.get());
    return sent.get();
  }
}
