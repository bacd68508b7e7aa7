package dev.activator.proxy;

import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/** Sends for as long as the other side takes it, on a thread of its own, and counts. */
final class Flood {
  private final AtomicLong sent = new AtomicLong();

  private Flood() {}

  static Flood into(RawPeer peer) {
    return of(peer, new byte[64 << 10]);
  }

  static Flood of(RawPeer peer, byte[] piece) {
    var flood = new Flood();
    Thread.ofVirtual().start(() -> {
      try {
        while (true) {
          peer.send(piece);
          flood.sent.addAndGet(piece.length);
        }
      } catch (IOException ended) {
        // By the test, or by the other side.
      }
    });
    return flood;
  }

  long sent() {
    return sent.get();
  }

  /** What was sent when no more was taken for a while. A slow machine makes it less, not more. */
  long sentAtRest() {
    var last = new AtomicLong(-1);
    Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(300))
        .until(() -> sent.get() > 0 && last.getAndSet(sent.get()) == sent.get());
    return sent.get();
  }
}
