package dev.activator.ext.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LogLimit;
import dev.activator.proxy.Activator;
import dev.activator.proxy.WireTest;
import dev.activator.testing.FreePort;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import io.netty.channel.Channel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients and pods that end, reset and wait at random, over sockets. A client gets back what it has sent, in
 * order, or the beginning of it, and at the end nothing is left behind.
 */
class RandomConnectionsTest extends WireTest {
  private static final int CONNECTIONS = 400;
  private static final int AT_ONCE = 20;
  private static final int MAX_BYTES = 200_000;

  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicInteger whole = new AtomicInteger();

  private int listen() throws Exception {
    var live = Objects.requireNonNull(activator.revisions.live.find(Activator.HELLO));
    Channel listening = null;
    int port = 0;
    while (listening == null) {
      port = FreePort.next();
      try {
        listening = activator.server.listenFor("127.0.0.1", port, (client,
            dispatcher) -> TcpConnection.accept(client,
                Objects.requireNonNull(ConnectionAddresses.of(client)), dispatcher, live,
                new LogLimit()))
            .get();
      } catch (ExecutionException taken) {
        // By another process, since it was looked at.
        continue;
      }
    }
    return port;
  }

  /** A pod that sends back what it gets, unless it fails, and that fails at most as often as another pod is tried. */
  private ScriptedPod.Script pod(Random random, AtomicInteger failuresInARow) {
    return caller -> {
      int fate = random.nextInt(10);
      if (fate < 2 && failuresInARow.incrementAndGet() <= 2) {
        if (fate == 0) {
          caller.reset();
        }
        return;
      }
      failuresInARow.set(0);
      int resetAfter = fate == 2 ? 1 + random.nextInt(MAX_BYTES) : Integer.MAX_VALUE;
      var in = caller.socket().getInputStream();
      byte[] buffer = new byte[1 + random.nextInt(20_000)];
      int all = 0;
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        all += read;
        if (all > resetAfter) {
          caller.reset();
          return;
        }
        caller.send(Arrays.copyOf(buffer, read));
      }
    };
  }

  private void client(int port, Random random) {
    var bytes = new byte[1 + random.nextInt(MAX_BYTES)];
    random.nextBytes(bytes);
    int fate = random.nextInt(10);
    var got = new ByteArrayOutputStream();
    boolean ended = false;
    try (var peer = RawPeer.connect(port)) {
      if (fate == 0) {
        return;
      }
      var writer = Thread.ofVirtual().start(() -> {
        try {
          peer.send(bytes);
          if (fate == 1) {
            peer.reset();
          } else {
            peer.endOutput();
          }
        } catch (IOException e) {
          // A pod has reset the connection, or this client has.
        }
      });
      try {
        peer.socket().getInputStream().transferTo(got);
        ended = true;
      } catch (IOException e) {
        // The same.
      }
      join(writer);
    } catch (IOException e) {
      wrong.add(e.toString());
    }
    var back = got.toByteArray();
    if (!new String(bytes, StandardCharsets.ISO_8859_1)
        .startsWith(new String(back, StandardCharsets.ISO_8859_1))) {
      wrong.add("other bytes came back");
    } else if (ended && fate != 1 && back.length > 0 && back.length < bytes.length) {
      wrong.add(back.length + " of " + bytes.length + " bytes came back, and an end in order");
    } else if (back.length == bytes.length) {
      whole.incrementAndGet();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noByteIsLostOrTwice_andNothingIsLeft(long seed) throws Exception {
    var random = new Random(seed);
    int port = listen();
    var pod = idlePod(pod(random, new AtomicInteger()));
    activator.throttle.grow(pod.destination(), 7);
    try (var clients = Executors.newFixedThreadPool(AT_ONCE, Thread.ofVirtual().factory())) {
      for (int i = 0; i < CONNECTIONS; i++) {
        var own = new Random(random.nextLong());
        clients.execute(() -> client(port, own));
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(whole).hasValueGreaterThan(CONNECTIONS / 2);
  }
}
