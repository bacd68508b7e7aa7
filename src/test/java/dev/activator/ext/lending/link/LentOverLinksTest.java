package dev.activator.ext.lending.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.tls.SelfSignedCertificate;
import dev.activator.ext.console.Diagnoses;
import dev.activator.ext.console.WaitState;
import dev.activator.ext.lending.PermitLending;
import dev.activator.testing.TestRevisions;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FreePort;
import dev.activator.testing.Make;
import dev.activator.testing.PatientCaller;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Activators in one process, linked over TLS, with requests of random lengths at all of them, and pods
 * without a queue-proxy: none ever has more than its limit.
 */
class LentOverLinksTest {
  private static final RevisionId CART = new RevisionId("shop", "cart");
  private static final int REQUESTS = 400;
  private static final SelfSignedCertificate KEY = SelfSignedCertificate.of("activator-peers");

  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(4,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(threads);
  /** One thread for the links of each activator, of four at most. */
  private final MultiThreadIoEventLoopGroup links = new MultiThreadIoEventLoopGroup(4,
      NioIoHandler.newFactory());
  private final int port = FreePort.next();
  private final List<Activator> activators = new ArrayList<>();
  private final Map<Destination, AtomicInteger> running = new ConcurrentHashMap<>();
  private final Set<Integer> concurrency = ConcurrentHashMap.newKeySet();
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();

  private final class Activator {
    private final TestRevisions revisions = new TestRevisions(loops::loopFor);
    private final Throttler throttler;
    private final Revision revision;
    private final PeerTransport peers;
    private final NettyLoop link = new NettyLoop(links.next());

    Activator(String address, List<String> all, List<Destination> pods, int limit) {
      revision = new Revision(CART, "u", PortProtocol.HTTP1, limit, RequestTimeouts.DEFAULT, true,
          ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null);
      var lending = new PermitLending(address);
      throttler = Make.throttler(revisions.live, address,
          ThrottlerOptions.of(10_000), LoopGroup.random(), lending);
      var tls = new PeerTls();
      peers = new PeerTransport(link, tls, address, port,
          new PeerNetwork.Self("pod-" + address, address, activators.size() + 1), () -> {
            try {
              tls.use("the test", KEY.certificate(), KEY.key());
              return CompletableFuture.completedFuture("");
            } catch (IOException e) {
              return CompletableFuture.failedFuture(e);
            }
          }, new Random(1));
      lending.start(peers.network().loop(), peers.network());
      peers.network().listen(lending);
      var addresses = new PublicEndpointAddresses(CART, all, List.of());
      throttler.onRevision(revisions.put(revision));
      throttler.onPublicAddresses(addresses);
      throttler.onDestinations(HealthyDestinations.pods(CART, DestinationSet.of(pods)));
      peers.network().publicAddresses(addresses);
      activators.add(this);
    }

    Activator open() {
      peers.open();
      return this;
    }

    boolean isRefusedBy(String address) {
      return peers.network().views().stream().anyMatch(view -> view.address().equals(address)
          && view.problem().startsWith("nothing listens"));
    }

    ThrottleDecision admit(QueuedCaller caller) {
      return throttler.admit(revisions.of(CART), caller);
    }

    void sends(int count, Random random) {
      var loop = loops.loopFor(CART);
      for (int i = 0; i < count; i++) {
        begun.incrementAndGet();
        var request = new Request(loop, Duration.ofMillis(random.nextInt(5)));
        loop.schedule(Duration.ofMillis(random.nextInt(500)), () -> {
          if (throttler.admit(revisions.of(CART), request) instanceof Permit now) {
            request.granted(now);
          }
        });
      }
    }
  }

  private final class Request extends PatientCaller {
    private final Duration length;

    Request(Loop loop, Duration length) {
      super(loop);
      this.length = length;
    }

    @Override
    public void granted(Permit permit) {
      var pod = running.computeIfAbsent(permit.destination(), _ -> new AtomicInteger());
      concurrency.add(pod.incrementAndGet());
      loop().schedule(length, () -> {
        pod.decrementAndGet();
        permit.release(Ending.ANSWERED);
        ended.incrementAndGet();
      });
    }
  }

  @AfterEach
  void close() {
    activators.forEach(one -> one.peers.close());
    threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    links.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @ParameterizedTest(name = "{0} activators, {1} pods, limit {2}")
  @CsvSource({"2, 1, 1", "2, 2, 1", "3, 2, 1", "3, 5, 2", "4, 3, 3"})
  void endsAllRequests_andKeepsTheLimit(int activatorCount, int podCount, int limit) {
    var addresses = IntStream.range(2, 2 + activatorCount).mapToObj(i -> "127.0.0." + i).toList();
    var pods = IntStream.rangeClosed(1, podCount)
        .mapToObj(i -> new Destination("10.1.0." + i, 8012)).toList();
    addresses.forEach(address -> new Activator(address, addresses, pods, limit).open());

    requestsComeToAll();

    await().untilAsserted(() -> assertThat(ended).hasValue(begun.get()));
    assertThat(concurrency).isNotEmpty().allMatch(count -> count <= limit);
  }

  @Test
  void keepsTheLimit_whileContainersOfListedActivatorsAreRestarted() {
    var addresses = List.of("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5");
    var pods = List.of(new Destination("10.1.0.1", 8012), new Destination("10.1.0.2", 8012));
    addresses.forEach(address -> new Activator(address, addresses, pods, 3));
    activators.get(1).open();
    activators.get(3).open();

    requestsComeToAll();
    await().until(() -> activators.get(1).isRefusedBy("127.0.0.4"));
    activators.get(0).open();
    activators.get(2).open();

    await().untilAsserted(() -> assertThat(ended).hasValue(begun.get()));
    assertThat(concurrency).isNotEmpty().allMatch(count -> count <= 3);
  }

  /** Most come to one, and from the start, before there are links. */
  private void requestsComeToAll() {
    var random = new Random(activators.size());
    for (var one : activators) {
      one.sends(one == activators.getFirst() ? REQUESTS : REQUESTS / 10, random);
    }
  }

  /** A request that runs until the test ends it. */
  private static final class Endless extends PatientCaller {
    private final CompletableFuture<Permit> permit = new CompletableFuture<>();

    Endless(Loop loop) {
      super(loop);
    }

    @Override
    public void granted(Permit now) {
      permit.complete(now);
    }
  }

  @Test
  void saysWhereThePermitsAre_andThatTheActivatorThereIsLost() {
    var addresses = List.of("127.0.0.2", "127.0.0.3");
    var pod = new Destination("10.1.0.1", 8012);
    var busy = new Activator(addresses.getFirst(), addresses, List.of(pod), 1).open();
    var waits = new Activator(addresses.getLast(), addresses, List.of(pod), 1).open();
    var loop = loops.loopFor(CART);
    var running = new Endless(loop);
    var permit = on(loop, () -> busy.admit(running) instanceof Permit now
        ? CompletableFuture.completedFuture(now)
        : running.permit).join();
    var waiting = new Endless(loop);
    on(loop, () -> waits.admit(waiting));

    says(loop, waits, pod, WaitState.AT_PEERS,
        "1 pod is listed, but their permits are at other activators");

    // when the other one sends nothing
    var mayGoOn = new CompletableFuture<Void>();
    busy.link.execute(mayGoOn::join);
    says(loop, waits, pod, WaitState.PEER_LOST, "127.0.0.2, whose link has been lost for ");

    mayGoOn.complete(null);
    permit.release(Ending.ANSWERED);
    await().until(waiting.permit::isDone);
    waiting.permit.join().release(Ending.ANSWERED);
  }

  private static <T> T on(Loop loop, Supplier<T> what) {
    return CompletableFuture.supplyAsync(what, loop).join();
  }

  private static void says(Loop loop, Activator at, Destination pod, WaitState state,
      String sentence) {
    await().untilAsserted(() -> {
      var diagnosis = Diagnoses.of(
          Objects.requireNonNull(on(loop, () -> at.throttler.inspect(CART))), List.of(pod));
      assertThat(diagnosis.summary()).contains(sentence);
      assertThat(diagnosis.state()).isEqualTo(state);
    });
  }
}
