package dev.activator.waking;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.CidrRanges;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestObservers;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Services at zero that call each other, in virtual time. A service starts while it has demand. */
final class ChainWorld {
  final VirtualLoop loop = VirtualLoop.nearOverflow();
  final Map<RevisionId, Service> services = new LinkedHashMap<>();
  final Throttler throttler = Quiescence.watch(Make.throttler(loop, this::revision, 100));
  final SpeculativeStarts starts = Quiescence.watch(new SpeculativeStarts(loop, new Demand(),
      throttler, this::revision, _ -> true));
  final PrewarmCounts counts = new PrewarmCounts();
  final CallChains chains;
  final RequestObservers observers = new RequestObservers();
  boolean watching;
  private boolean mayBeRejected;

  ChainWorld(CallChains.Mode mode, String... trustedHops) {
    chains = Quiescence.watch(new CallChains(mode, starts, throttler, id -> service(id).listing(),
        counts));
    var observer = new CallerDetector(chains, throttler, CidrRanges.of(List.of(trustedHops)),
        _ -> 0);
    chains.onWatching(now -> {
      watching = now;
      if (now) {
        observers.add(observer);
      } else {
        observers.remove(observer);
      }
    });
    throttler.starts().subscribe("test", chains::started);
  }

  static RevisionId id(String name) {
    return new RevisionId("n", name);
  }

  private @Nullable Revision revision(RevisionId id) {
    return services.containsKey(id) ? Revision.of(id, 0) : null;
  }

  Service service(RevisionId id) {
    return services.get(id);
  }

  Service service(String name, Duration start) {
    var service = new Service(id(name), "10.0.0." + (services.size() + 1), start);
    services.put(service.id, service);
    throttler.revision(Revision.of(service.id, 0));
    loop.run();
    return service;
  }

  /** A request that is rejected before a pod is up. */
  void rejected(String name) {
    mayBeRejected = true;
    service(id(name)).call("192.0.2.7", request -> {
      throw new AssertionError("it runs");
    });
    loop.advance(Duration.ofSeconds(1));
    mayBeRejected = false;
  }

  /** A request with this trace, which a pod of another service gets while this one starts. */
  void fallenBack(String name, String trace) {
    var request = new Request(service(id(name)), "192.0.2.7", Map.of("traceparent", trace),
        _ -> {
        });
    request.begin();
    loop.run();
    request.entry.giveUp();
    request.record.fellBack();
    request.record.granted(new Destination("10.0.9.9", 80));
    request.record.forwarding();
    loop.run();
  }

  /** A request that must not wake a service, from a pod of another. */
  void probe(String name, String peer) {
    var request = new Request(service(id(name)), peer, Map.of(), Request::end);
    request.record.mayWake = false;
    request.begin();
    loop.run();
  }

  /** All pods are removed, after all that is awaited is over. */
  void sleep() {
    loop.advance(Duration.ofMinutes(3));
    services.values().forEach(Service::stop);
    loop.run();
  }

  void end() {
    sleep();
    for (var id : List.copyOf(services.keySet())) {
      services.remove(id);
      throttler.revisionGone(id);
      starts.gone(id);
      chains.gone(id);
    }
    loop.run();
  }

  private final class Demand implements RequestCounter {
    @Override
    public void arrived(RevisionId revision) {
      service(revision).demand();
    }

    @Override
    public void left(RevisionId revision) {
      // A start goes on.
    }
  }

  final class Service {
    final RevisionId id;
    final String address;
    Duration start;
    int begun;
    private boolean starting;
    private boolean up;

    private Service(RevisionId id, String address, Duration start) {
      this.id = id;
      this.address = address;
      this.start = start;
    }

    private void demand() {
      if (!starting && !up) {
        starting = true;
        begun++;
        loop.schedule(start, () -> {
          starting = false;
          up = true;
          publish();
        });
      }
    }

    void stop() {
      up = false;
      publish();
    }

    private DestinationSet pods() {
      return up ? DestinationSet.of(new Destination(address, 80)) : DestinationSet.NONE;
    }

    PrivateEndpoints listing() {
      return new PrivateEndpoints(id, new PodsByReadiness(pods(), DestinationSet.NONE),
          PodsByReadiness.NONE);
    }

    private void publish() {
      chains.listed(listing());
      throttler.destinations(HealthyDestinations.pods(id, pods()));
    }

    Request call(String peer, Consumer<Request> onServed) {
      return call(peer, Map.of(), onServed);
    }

    /** @param onServed called when a pod has the request, which it must {@link Request#end} */
    Request call(String peer, Map<String, String> headers, Consumer<Request> onServed) {
      var request = new Request(this, peer, headers, onServed);
      request.begin();
      return request;
    }
  }

  final class Request implements QueuedCaller {
    private final Service service;
    private final FakeRequest record;
    private final Consumer<Request> onServed;
    private @Nullable QueueEntry entry;
    private @Nullable Permit permit;

    private Request(Service service, String peer, Map<String, String> headers,
        Consumer<Request> onServed) {
      this.service = service;
      this.onServed = onServed;
      this.record = FakeRequest.of(observers, loop, Revision.of(service.id, 0));
      record.peer = peer;
      record.headers.putAll(headers);
      // As the proxy adds it.
      record.headers.merge("X-Forwarded-For", peer, (before, own) -> before + ", " + own);
    }

    private void begin() {
      record.begin();
      service.demand();
      switch (throttler.admit(Revision.of(service.id, 0), this)) {
        case Permit now -> granted(now);
        case QueueEntry later -> {
          entry = later;
          record.queued();
        }
        case ThrottleDecision.NoRoom _ -> throw new AssertionError("it may wait");
      }
    }

    String address() {
      return service.address;
    }

    void end() {
      if (permit != null) {
        permit.release(Ending.ANSWERED);
      }
      record.ended(RequestOutcome.ANSWERED, 200);
    }

    @Override
    public VirtualLoop loop() {
      return loop;
    }

    @Override
    public long maxWaitNanos() {
      return Long.MAX_VALUE;
    }

    @Override
    public void granted(Permit now) {
      permit = now;
      record.granted(now.destination());
      record.forwarding();
      onServed.accept(this);
    }

    @Override
    public void rejected(Rejection reason) {
      assertThat(mayBeRejected).as("rejected: %s", reason).isTrue();
      record.ended(RequestOutcome.CANNOT_START, 503);
    }
  }

  /** What calls what, in which order, and how long it computes before. */
  record Step(String callee, Duration after) {}

  /** A program that makes these calls, one after the other. */
  void run(Request request, Map<String, List<Step>> programs, Runnable done) {
    step(request, new ArrayList<>(
        programs.getOrDefault(request.service.id.name(), List.of())), programs, done);
  }

  private void step(Request request, List<Step> left, Map<String, List<Step>> programs,
      Runnable done) {
    if (left.isEmpty()) {
      request.end();
      done.run();
      return;
    }
    var next = left.removeFirst();
    loop.schedule(next.after, () -> service(id(next.callee)).call(request.address(),
        callee -> run(callee, programs, () -> step(request, left, programs, done))));
  }

  /** How long the answer of this service takes. */
  Duration answer(String name, Map<String, List<Step>> programs) {
    var begun = loop.elapsed();
    var took = new HashMap<String, Duration>();
    service(id(name)).call("192.0.2.7",
        request -> run(request, programs, () -> took.put(name, loop.elapsed().minus(begun))));
    for (int i = 0; i < 6_000 && took.isEmpty(); i++) {
      loop.advance(Duration.ofMillis(20));
    }
    return took.get(name);
  }
}
