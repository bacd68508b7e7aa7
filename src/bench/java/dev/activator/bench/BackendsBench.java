package dev.activator.bench;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.LiveRevisions;
import dev.activator.testing.Make;
import dev.activator.tls.PodTls;
import dev.activator.backend.ProbeSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.loop.LoopGroup;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.ConnectionPoolsByLoop;
import dev.activator.upstream.HttpProbeClient;
import dev.activator.upstream.ProbeClient.ProbeResult;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.slf4j.LoggerFactory;

/** What it costs to watch many revisions: memory while nothing happens, delays while much does. */
public final class BackendsBench {
  private static final int IDLE_REVISIONS = 10_000;

  private BackendsBench() {}

  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    ((Logger) LoggerFactory.getLogger("dev.activator")).setLevel(Level.WARN);
    var wanted = args.length == 0 ? Set.of("memory", "answers", "storm") : Set.of(args);
    System.out.printf("%-52s %10s %10s%n", "", "measured", "budget");
    if (wanted.contains("memory")) {
      memory();
    }
    if (wanted.contains("answers")) {
      answers();
    }
    if (wanted.contains("storm")) {
      new Storm().run();
    }
  }

  private static void print(String what, double measured, String budget) {
    System.out.printf(Locale.ROOT, "%-52s %10.2f %10s%n", what, measured, budget);
  }

  private static RevisionId id(int number) {
    return new RevisionId("namespace-" + number % 100, "revision-" + number);
  }

  /** Heap of revisions whose pods all answer, without what Kubernetes says of them. */
  private static void memory() {
    var revisions = new ArrayList<Revision>();
    var listings = new ArrayList<PrivateEndpoints>();
    var addresses = new ArrayList<PrivateClusterIp>();
    for (int i = 0; i < IDLE_REVISIONS; i++) {
      int number = i;
      var pods = DestinationSet.of(IntStream.range(0, 4).mapToObj(
          pod -> new Destination("10." + pod + "." + number / 250 + "." + number % 250, 8012))
          .toList());
      revisions.add(Revision.of(id(i), 10));
      listings.add(
          new PrivateEndpoints(id(i), new PodsByReadiness(pods, DestinationSet.NONE),
              PodsByReadiness.NONE));
      addresses.add(new PrivateClusterIp(id(i), new Destination("10.96.0." + i % 250, 80), null));
    }
    long records = usedHeap();

    var loop = new VirtualLoop();
    var live = new LiveRevisions(_ -> loop);
    var backends = Make.backends(live, loop,
        (on, _, done) -> on.execute(() -> done.accept(new ProbeResult.Answered(200, "queue"))));
    revisions.forEach(one -> backends.revision(live.update(one)));
    addresses.forEach(backends::clusterIp);
    listings.forEach(backends::listed);
    loop.advance(Duration.ofSeconds(100));
    long watched = usedHeap();
    print("KB heap a revision of 4 pods, 10,000 of them",
        (watched - records) / 1024.0 / IDLE_REVISIONS, "10");
    if (backends.view(id(0)) == null || listings.isEmpty() || revisions.isEmpty()) {
      throw new IllegalStateException("nothing was watched");
    }
  }

  /** CPU time of one thread, from the listing of a revision's pods until all have answered. */
  private static void answers() {
    for (int warmUp = 0; warmUp < 20; warmUp++) {
      answers(1_000);
    }
    for (int pods : new int[]{500, 1_000, 2_000, 5_000}) {
      var nanos = IntStream.range(0, 9).mapToLong(_ -> answers(pods)).sorted().toArray();
      print("us CPU a pod until " + pods + " have answered", nanos[4] / 1e3 / pods, "");
    }
  }

  private static long answers(int count) {
    var loop = new VirtualLoop();
    var live = new LiveRevisions(_ -> loop);
    var backends = Make.backends(live, loop,
        (on, _, done) -> on.execute(() -> done.accept(new ProbeResult.Answered(200, "queue"))));
    var pods = DestinationSet.of(IntStream.range(0, count)
        .mapToObj(i -> new Destination("10.0." + i / 250 + "." + i % 250, 8012)).toList());
    backends.revision(live.update(Revision.of(id(0), 10)));
    backends.onRequestWaits(id(0), loop);
    loop.run();
    var threads = ManagementFactory.getThreadMXBean();
    long begin = threads.getCurrentThreadCpuTime();
    backends
        .listed(new PrivateEndpoints(id(0), new PodsByReadiness(pods, DestinationSet.NONE),
            PodsByReadiness.NONE));
    loop.run();
    long took = threads.getCurrentThreadCpuTime() - begin;
    var view = backends.view(id(0));
    if (view == null || view.published().pods().size() != count) {
      throw new IllegalStateException("not all have answered");
    }
    return took;
  }

  private static long usedHeap() {
    for (int i = 0; i < 5; i++) {
      System.gc();
      LockSupport.parkNanos(50_000_000);
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /**
   * Pods that answer come and go, 5,000 changes a second in 1,000 revisions, while the fifty of one
   * more revision accept connections and say nothing.
   */
  private static final class Storm {
    private static final int REVISIONS = 1_000;
    private static final int CHANGES_PER_SECOND = 5_000;
    private static final int SECONDS = 30;
    private static final int WARM_UP_SECONDS = 15;
    private static final long SECOND = 1_000_000_000;

    private final Random random = new Random(1);
    private final BenchPod pod = BenchPod.listening(0);
    private final ServerSocket blackHole = new ServerSocket();
    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(2,
        EpollIoHandler.newFactory());
    private final LoopGroup loops = new LoopGroup(group);
    private final LiveRevisions live = new LiveRevisions(loops::loopFor);
    private final RevisionBackendsManager backends = Make.backends(live,
        loops.loopFor("probes"), new HttpProbeClient(
            new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, new Random(1),
                new PodTls(TestRevisions.unused())),
            5_000),
        ProbeSettings.DEFAULT, new Random(1));
    private final List<Watched> watched = IntStream.range(0, REVISIONS).mapToObj(Watched::new)
        .toList();
    private final List<Long> delays = new ArrayList<>();
    private volatile boolean measuring;

    Storm() throws IOException {
      blackHole.bind(new InetSocketAddress(0), 4096);
    }

    void run() {
      var black = new RevisionId("black", "hole");
      backends.healthy().subscribe("test", now -> {
        if (!now.revision().equals(black)) {
          int number = Integer.parseInt(now.revision().name().substring("revision-".length()));
          watched.get(number).published(now.pods());
        }
      });
      backends.revision(live.update(Revision.of(black, 1)));
      backends.listed(new PrivateEndpoints(black,
          new PodsByReadiness(DestinationSet.of(IntStream.range(1, 51)
              .mapToObj(i -> new Destination("127.9.9." + i, blackHole.getLocalPort())).toList()),
              DestinationSet.NONE),
          PodsByReadiness.NONE));
      IntStream.range(0, REVISIONS)
          .forEach(i -> backends.revision(live.update(Revision.of(id(i), 1))));
      change(WARM_UP_SECONDS);
      // What piled up while nothing was compiled yet is no storm.
      LockSupport.parkNanos(5 * SECOND);
      measuring = true;
      change(SECONDS);
      LockSupport.parkNanos(SECOND);
      report();
    }

    private void change(int seconds) {
      long begin = System.nanoTime();
      for (int i = 0; i < seconds * CHANGES_PER_SECOND; i++) {
        long due = begin + i * (SECOND / CHANGES_PER_SECOND);
        while (System.nanoTime() < due) {
          LockSupport.parkNanos(200_000);
        }
        watched.get(random.nextInt(REVISIONS)).change(random.nextInt(8));
      }
    }

    private void report() {
      synchronized (delays) {
        delays.sort(null);
        print("ms from a change to its publication, median",
            delays.get(delays.size() / 2) / 1e6, "");
        print("ms from a change to its publication, p90",
            delays.get((int) (delays.size() * 0.9)) / 1e6, "");
        print("ms from a change to its publication, p99",
            delays.get((int) (delays.size() * 0.99)) / 1e6, "50");
        print("% of changes that were published by the end", 100.0 * delays.size()
            / ((double) SECONDS * CHANGES_PER_SECOND), "");
      }
    }

    /** One revision, as it is listed and as it is published. */
    private final class Watched {
      private final int number;
      private DestinationSet listed = DestinationSet.NONE;
      private DestinationSet published = DestinationSet.NONE;
      private final List<Long> waiting = new ArrayList<>();

      Watched(int number) {
        this.number = number;
      }

      synchronized void change(int address) {
        var changed = new Destination(
            "127." + (1 + address) + "." + number / 250 + "." + (1 + number % 250), pod.port());
        listed = listed.contains(changed) ? listed.minus(changed) : listed.plus(changed);
        if (listed.equals(published)) {
          // It came and went before anybody could say so.
          waiting.clear();
        } else if (measuring) {
          waiting.add(System.nanoTime());
        }
        backends.listed(
            new PrivateEndpoints(id(number), new PodsByReadiness(listed, DestinationSet.NONE),
                PodsByReadiness.NONE));
      }

      synchronized void published(DestinationSet pods) {
        published = pods;
        if (!pods.equals(listed)) {
          return;
        }
        long now = System.nanoTime();
        synchronized (delays) {
          waiting.forEach(from -> delays.add(now - from));
        }
        waiting.clear();
      }
    }
  }
}
