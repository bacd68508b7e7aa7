package dev.activator.bench;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.bench.Contestant.Pods;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.DoubleStream;
import org.slf4j.LoggerFactory;

/**
 * What a revision notices of another one's flood: delays at a fixed rate, in turns alone, with as many
 * requests again that are answered, and with ten thousand requests that wait for the other while more
 * are refused all the time. What the answered ones cost the first is not the flood's.
 */
public final class FairnessBench {
  /** Some more than may wait: those are refused, and then there is no place for any other. */
  private static final int QUEUED = 10_100;
  private static final int BESIDES_A_SECOND = 500;
  private static final int RATE = 1_000;
  private static final int CONNECTIONS = 50;
  private static final int ROUNDS = ProxyBench.setting("ROUNDS", 5);
  private static final int SECONDS = ProxyBench.setting("SECONDS", 5);

  private final ProxyStage stage = new ProxyStage();
  private final Contestant activator;
  private final int port;
  private volatile boolean going;
  private volatile long refused;

  private FairnessBench() throws IOException {
    stage.revisionAtZero("flooded");
    stage.activator("activator", "target/activator.jar",
        System.getenv().getOrDefault("ACTIVATOR_FLAGS", ""));
    activator = stage.contestants().getLast();
    port = activator.ports().get(Pods.HTTP1);
  }

  public static void main(String[] args) {
    ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
    Measurement.runAndExit(() -> new FairnessBench().run());
  }

  private void run() throws IOException {
    ProxyBench.awaitServed(activator, Pods.HTTP1);
    // Compilers have seen it then.
    Load.wrk(arguments(List.of("-c64", "-d" + 2 * SECONDS + "s")));
    flooded();
    var calm = new ArrayList<Load>();
    var busier = new ArrayList<Load>();
    var flood = new ArrayList<Load>();
    for (int i = 0; i < ROUNDS; i++) {
      calm.add(calm());
      busier.add(busier());
      flood.add(flooded());
    }
    System.out.printf("%n%-40s %8s %8s %8s %7s%n", RATE + " requests a second", "p50 ms", "p90 ms",
        "p99 ms", "errors");
    print("alone", calm);
    print("while others are answered", busier);
    print("while another revision is flooded", flood);
    ratio("p99, times that of alone (budget 1.10)", flood, calm);
    ratio("p99, times that while others are answered", flood, busier);
    System.out.printf("%-40s %26d%n", "requests of the other that were refused", refused);
  }

  /** A measurement once what the flood has left behind is cleared away. */
  private Load calm() throws IOException {
    LockSupport.parkNanos(5_000_000_000L);
    return paced();
  }

  /** With as many more requests as are refused in a flood. */
  private Load busier() throws IOException {
    LockSupport.parkNanos(2_000_000_000);
    return besides("200", activator.headers(Pods.HTTP1));
  }

  private Load paced() throws IOException {
    return Load.h2load(arguments(List.of("--h1", "-c" + CONNECTIONS, "-D" + SECONDS,
        "--rps=" + RATE / CONNECTIONS)));
  }

  private List<String> arguments(List<String> options) {
    var arguments = new ArrayList<>(options);
    arguments.addAll(activator.headerOptions(Pods.HTTP1));
    arguments.add(activator.url(Pods.HTTP1, "/"));
    return arguments;
  }

  /** A measurement with the queue full, and more requests all the time. */
  private Load flooded() throws IOException {
    try (var _ = IdleConnections.waiting(QUEUED, port, headers())) {
      LockSupport.parkNanos(2_000_000_000);
      return besides("503", headers());
    }
  }

  private Load besides(String status, List<String> headers) throws IOException {
    going = true;
    var others = Thread.ofPlatform().daemon().start(() -> ask(status, headers));
    try {
      return paced();
    } finally {
      going = false;
      try {
        others.join();
      } catch (InterruptedException hurried) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static List<String> headers() {
    return List.of("Knative-Serving-Namespace: bench", "Knative-Serving-Revision: flooded");
  }

  /** At a steady rate: on few cores a flood of callers is itself what others wait for. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread at a time.
  private void ask(String status, List<String> headers) {
    var request = ByteBuffer.wrap(("GET / HTTP/1.1\r\nHost: other\r\n"
        + String.join("\r\n", headers) + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    var answer = ByteBuffer.allocate(4096);
    try (var connection = SocketChannel.open(new InetSocketAddress("127.0.0.1", port))) {
      while (going) {
        connection.write(request.rewind());
        connection.read(answer.clear());
        var got = new String(answer.array(), 9, 3, StandardCharsets.US_ASCII);
        if (!got.equals(status)) {
          throw new IllegalStateException("expected " + status + ", but got " + got);
        }
        refused += got.equals("503") ? 1 : 0;
        LockSupport.parkNanos(1_000_000_000 / BESIDES_A_SECOND);
      }
    } catch (IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static void ratio(String what, List<Load> loads, List<Load> base) {
    System.out.printf(Locale.ROOT, "%-44s %22.2f%n", what,
        median(loads.stream().mapToDouble(Load::p99))
            / median(base.stream().mapToDouble(Load::p99)));
  }

  private static void print(String what, List<Load> loads) {
    System.out.printf(Locale.ROOT, "%-40s %8.2f %8.2f %8.2f %7d%n", what,
        median(loads.stream().mapToDouble(Load::p50)),
        median(loads.stream().mapToDouble(Load::p90)),
        median(loads.stream().mapToDouble(Load::p99)),
        loads.stream().mapToLong(Load::errors).sum());
  }

  private static double median(DoubleStream values) {
    var sorted = values.sorted().toArray();
    return Arrays.stream(sorted).skip(sorted.length / 2).findFirst().orElseThrow();
  }
}
