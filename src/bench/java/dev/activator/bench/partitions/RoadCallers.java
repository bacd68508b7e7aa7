package dev.activator.bench.partitions;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Callers of one activator, with one request at a time each, which runs for 20 to 100 ms. They leave after ten seconds. */
final class RoadCallers implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** A request that has ended. */
  record Ended(long nanos, boolean ok) {}

  private final ConcurrentLinkedQueue<Ended> ended = new ConcurrentLinkedQueue<>();
  private final AtomicInteger running = new AtomicInteger();
  private final HttpClient client;
  private final URI activator;
  private volatile boolean over;

  RoadCallers(Network network, int activator, int count) throws UnknownHostException {
    this.activator = URI.create(
        "http://" + network.activator(activator) + ":" + PartitionedCluster.PORT + "/busy/");
    this.client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
        .localAddress(InetAddress.getByName(network.address(".3")))
        .connectTimeout(PATIENCE).build();
    for (int i = 0; i < count; i++) {
      Thread.ofVirtual().start(this::call);
    }
  }

  private void call() {
    while (!over) {
      int millis = ThreadLocalRandom.current().nextInt(20, 100);
      var request = HttpRequest.newBuilder(activator.resolve("/busy/" + millis)).timeout(PATIENCE)
          .header("Knative-Serving-Namespace", PartitionedCluster.NAMESPACE)
          .header("Knative-Serving-Revision", PartitionedCluster.NAME).build();
      boolean ok = false;
      running.incrementAndGet();
      try {
        ok = client.send(request, BodyHandlers.ofString()).statusCode() == 200;
      } catch (IOException e) {
        // It is counted as failed.
      } catch (InterruptedException e) {
        return;
      } finally {
        running.decrementAndGet();
      }
      ended.add(new Ended(System.nanoTime(), ok));
    }
  }

  int running() {
    return running.get();
  }

  int count(long fromNanos, long toNanos, boolean ok) {
    return (int) ended.stream().filter(one -> one.ok() == ok && one.nanos() - fromNanos >= 0
        && one.nanos() - toNanos < 0).count();
  }

  @Override
  public void close() {
    over = true;
    client.shutdownNow();
  }
}
