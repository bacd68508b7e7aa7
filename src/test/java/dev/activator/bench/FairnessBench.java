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
 * What a revision notices of another one's flood: delays at a fixed rate, in turns with and without
 * ten thousand requests that wait for the other, and more that are refused all the time.
 */
public final class FairnessBench {
  /** Some more than may wait: those are refused, and then there is no place for any other. */
  private static final int QUEUED = 10_100;
  private static final int REFUSED_A_SECOND = 500;
  private static final int RATE = 1_000;
  private static final int CONNECTIONS = 50;
  private static final int ROUNDS = ProxyBench.setting("ROUNDS", 5);
  private static final int SECONDS = ProxyBench.setting("SECONDS", 5);

  private final ProxyStage stage = new ProxyStage();
  private final Contestant activator;
  private final int port;
  private volatile boolean flooding;
  private volatile long refused;

  private FairnessBench() throws IOException {
    stage.revisionAtZero("flooded");
    stage.activator("activator", "target/activator.jar", "");
    activator = stage.contestants().getLast();
    port = activator.ports().get(Pods.HTTP1);
  }

  public static void main(String[] args) {
    ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
    try {
      new FairnessBench().run();
      System.exit(0);
    } catch (IOException | RuntimeException failure) {
      System.err.println(failure);
      System.exit(1);
    }
  }

  private void run() throws IOException {
    ProxyBench.awaitServed(activator, Pods.HTTP1);
    // Compilers have seen it then.
    Load.wrk(arguments(List.of("-c64", "-d" + 2 * SECONDS + "s")));
    flooded();
    var calm = new ArrayList<Load>();
    var flood = new ArrayList<Load>();
    for (int i = 0; i < ROUNDS; i++) {
      calm.add(calm());
      flood.add(flooded());
    }
    System.out.printf("%n%-40s %8s %8s %8s %7s%n", RATE + " requests a second", "p50 ms", "p90 ms",
        "p99 ms", "errors");
    print("alone", calm);
    print("while another revision is flooded", flood);
    double ratio = median(flood.stream().mapToDouble(Load::p99))
        / median(calm.stream().mapToDouble(Load::p99));
    System.out.printf(Locale.ROOT, "%-40s %26.2f%n", "p99, times that of alone (budget 1.10)",
        ratio);
    System.out.printf("%-40s %26d%n", "requests of the other that were refused", refused);
  }

  /** A measurement once what the flood has left behind is cleared away. */
  private Load calm() throws IOException {
    LockSupport.parkNanos(5_000_000_000L);
    return paced();
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
      flooding = true;
      var refusals = Thread.ofPlatform().daemon().start(this::beRefused);
      var load = paced();
      flooding = false;
      refusals.join();
      return load;
    } catch (InterruptedException hurried) {
      throw new IOException(hurried);
    }
  }

  private static List<String> headers() {
    return List.of("Knative-Serving-Namespace: bench", "Knative-Serving-Revision: flooded");
  }

  /** At a steady rate: on few cores a flood of callers is itself what others wait for. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread at a time.
  private void beRefused() {
    var request = ByteBuffer.wrap(("GET / HTTP/1.1\r\nHost: flooded\r\n" + String.join("\r\n",
        headers()) + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    var answer = ByteBuffer.allocate(4096);
    try (var connection = SocketChannel.open(new InetSocketAddress("127.0.0.1", port))) {
      while (flooding) {
        connection.write(request.rewind());
        connection.read(answer.clear());
        if (!new String(answer.array(), 0, 12, StandardCharsets.US_ASCII).endsWith("503")) {
          throw new IllegalStateException("not refused");
        }
        refused++;
        LockSupport.parkNanos(1_000_000_000 / REFUSED_A_SECOND);
      }
    } catch (IOException failure) {
      throw new IllegalStateException(failure);
    }
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
