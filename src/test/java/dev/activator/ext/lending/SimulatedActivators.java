package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Activators that share the pods of one revision, with links and watches that lag and fail. */
final class SimulatedActivators {
  private static final int MAX_ACTIVATORS = 5;

  private final VirtualLoop world = new VirtualLoop();
  private final Random random;
  private final Faults faults;
  private final boolean withPauses;
  private Revision revision;
  private final Duration service;
  private final Map<PeerId, SimulatedActivator> activators = new LinkedHashMap<>();
  private final Map<PeerId, SkewedLoop> loops = new HashMap<>();
  private final Map<PeerId, long[]> watches = new HashMap<>();
  private final List<SimulatedLink> links = new ArrayList<>();
  private final TreeSet<String> listed = new TreeSet<>();
  private final TreeSet<Destination> pods = new TreeSet<>();
  private final TreeSet<Destination> everListed = new TreeSet<>();
  /** An activator that does not lend, such as Knative's: pods are divided by its rule. */
  private @Nullable SimulatedActivator knative;
  private final boolean mixed;
  private final boolean withoutLimitFirst;
  /** Some activators cannot reach some pods. */
  private final boolean withBlind;
  private final Map<PeerId, Set<Destination>> blind = new HashMap<>();
  /** By the activator that owns them, as it sees it. */
  private final Map<Destination, PeerId> owners = new HashMap<>();
  private int highestLimit;
  private boolean isCalm;
  private boolean exceeded;
  private int nextActivator;
  private int nextPod;

  SimulatedActivators(long seed, Faults faults, boolean withPauses) {
    this.random = new Random(seed);
    this.faults = faults;
    this.withPauses = withPauses;
    this.service = Duration.ofMillis(List.of(2, 50, 400).get(random.nextInt(3)));
    boolean isPlain = faults != Faults.NONE;
    mixed = !isPlain && seed % 6 == 4;
    int limit = List.of(1, 1, 2, 5).get(random.nextInt(4));
    withoutLimitFirst = !isPlain && seed % 6 == 5;
    withBlind = !isPlain && seed % 6 == 3;
    revision = revision(withoutLimitFirst ? 0 : limit);
    int count = 2 + random.nextInt(MAX_ACTIVATORS - 1);
    IntStream.range(0, count).forEach(_ -> start());
    if (mixed) {
      startKnative();
    }
    alive().forEach(it -> it.activators(addresses()));
    advance(Duration.ofMillis(1));
    int first = 1 + (random.nextBoolean() ? random.nextInt(3) : random.nextInt(20));
    IntStream.range(0, first).forEach(_ -> addPod());
    links.forEach(SimulatedLink::connect);
    publish();
  }

  private Revision revision(int limit) {
    highestLimit = Math.max(highestLimit, limit);
    var probe = faults == Faults.OWNED_IN_BOTH_VIEWS ? null : ReadinessProbeSpec.CONNECT;
    return new Revision(SimulatedActivator.ID, "", PortProtocol.HTTP1, limit,
        new RequestTimeouts(Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO), true, probe,
        Map.of(), Map.of(), null);
  }

  /** One that nothing links to, and that knows no other. */
  private void startKnative() {
    var id = new PeerId("10.1.0.200", "knative");
    var loop = new SkewedLoop(world, 1, random.nextLong(), 10_000);
    knative = new SimulatedActivator(id, loop, revision, random, service, (_, _) -> {
    }, pod -> check(id, pod));
    listed.add(id.address());
  }

  private void start() {
    String address = "10.1.0." + (1 + nextActivator);
    var id = new PeerId(address, "p" + nextActivator++);
    var loop = new SkewedLoop(world, 0.95 + random.nextDouble() / 10, random.nextLong(),
        10_000 + random.nextInt(100_000));
    var self = new SimulatedActivator(id, loop, revision, random, service,
        (peer, message) -> send(id, peer, message), pod -> check(id, pod));
    if (knative != null) {
      String other = knative.id().address();
      loop.execute(() -> self.lending().onLegacy(other));
    }
    loop.afterEach(() -> checkBooks(self));
    activators.values()
        .forEach(other -> links.add(new SimulatedLink(world, random, self, other, faults)));
    activators.put(id, self);
    loops.put(id, loop);
    listed.add(address);
  }

  private void send(PeerId from, PeerId to, PeerMessage message) {
    var sender = activators.get(from);
    links.stream().filter(link -> link.isOf(sender) && link.farSide(sender).id().equals(to))
        .forEach(link -> link.send(sender, message));
  }

  private void addPod() {
    var pod = new Destination("10.2.0." + nextPod++, 8012);
    pods.add(pod);
    everListed.add(pod);
  }

  private List<SimulatedActivator> alive() {
    return activators.values().stream().filter(SimulatedActivator::isAlive).toList();
  }

  private Set<String> addresses() {
    return all().stream().map(it -> it.id().address()).collect(Collectors.toSet());
  }

  /** Each activator learns it at another time, some things twice. */
  private void publish() {
    var addresses = List.copyOf(listed);
    var current = List.copyOf(pods);
    var all = addresses();
    for (var activator : all()) {
      for (int times = random.nextInt(4) == 0 ? 2 : 1; times > 0; times--) {
        watched(activator, 0, 2_000, () -> activator.listed(addresses));
        var reached = new TreeSet<>(current);
        reached.removeAll(blindOf(activator));
        watched(activator, 1, 2_000, () -> activator.pods(reached));
        if (activator != knative) {
          watched(activator, 2, 500, () -> activator.activators(all));
        }
      }
    }
  }

  private Set<Destination> blindOf(SimulatedActivator activator) {
    return blind.computeIfAbsent(activator.id(), _ -> new HashSet<>());
  }

  /** An activator can no longer reach a pod, or again. */
  private void routesChange() {
    if (withBlind) {
      var pod = any(List.copyOf(everListed));
      var unreached = blindOf(any(alive()));
      if (!unreached.remove(pod)) {
        unreached.add(pod);
      }
      publish();
    }
  }

  /** A watch is late, and in order. */
  private void watched(SimulatedActivator activator, int kind, int maxMillis, Runnable task) {
    long[] last = watches.computeIfAbsent(activator.id(), _ -> new long[4]);
    long now = world.elapsed().toNanos();
    last[kind] = Math.max(last[kind], now + random.nextInt(maxMillis) * 1_000_000L);
    world.schedule(Duration.ofNanos(last[kind] - now), task);
  }

  private void later(int maxMillis, Runnable task) {
    world.schedule(Duration.ofMillis(random.nextInt(maxMillis)), task);
  }

  void advance(Duration time) {
    world.advance(time);
  }

  void pass(int maxMillis) {
    world.advance(Duration.ofMillis(random.nextInt(maxMillis)));
  }

  /** Something happens. */
  void step() {
    switch (random.nextInt(40)) {
      case 0 -> any(links).cut();
      case 1 -> any(links).stall(Duration.ofMillis(random.nextInt(5_000)));
      case 2 ->
        loops.get(any(alive()).id())
            .pause(Duration.ofMillis(random.nextInt(withPauses ? 30_000 : 50)));
      case 3 -> podsChange();
      case 4 -> activatorsChange();
      case 5, 6, 7 -> links.forEach(SimulatedLink::connect);
      case 8, 9 -> pass(2_000);
      case 10 -> longCut();
      case 11 -> any(all()).retryOne();
      case 12 -> limitChanges();
      case 13 -> routesChange();
      case 14 -> isUnreadyForAMoment();
      default -> {
        var at = any(all());
        for (int count = 1 + random.nextInt(6); count > 0; count--) {
          at.request();
        }
        pass(60);
      }
    }
  }

  private <T> T any(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  /** Long enough that what was lent is free again. */
  private void longCut() {
    if (random.nextInt(6) == 0 && withPauses) {
      var link = any(links);
      link.stall(Duration.ofSeconds(90 + random.nextInt(60)));
      link.stall(Duration.ofSeconds(90 + random.nextInt(60)));
      for (int i = 0; i < 150; i++) {
        any(alive()).request();
        pass(2_000);
      }
    }
  }

  private void limitChanges() {
    if (random.nextInt(4) == 0) {
      revision = revision(List.of(1, 1, 2, 5).get(random.nextInt(4)));
      publishRevision();
    }
  }

  private void publishRevision() {
    var now = revision;
    for (var activator : all()) {
      watched(activator, 3, 2_000, () -> activator.revision(now));
    }
  }

  private void podsChange() {
    if (random.nextBoolean() && pods.size() < 20) {
      addPod();
    } else if (pods.size() > 1) {
      pods.remove(any(List.copyOf(pods)));
    } else if (!everListed.isEmpty()) {
      pods.add(any(List.copyOf(everListed)));
    }
    publish();
  }

  private void activatorsChange() {
    var living = alive();
    if (random.nextInt(3) == 0 && living.size() < MAX_ACTIVATORS) {
      start();
      links.forEach(SimulatedLink::connect);
    } else if (random.nextInt(3) == 0 && listed.size() > 1) {
      // Drains.
      listed.remove(any(living).id().address());
    } else if (living.size() > 2) {
      crash(any(living));
    }
    publish();
  }

  /** Some have the old view again before others have the one in between. */
  private void isUnreadyForAMoment() {
    var address = any(alive()).id().address();
    if (listed.size() > 1 && listed.remove(address)) {
      publish();
      pass(1_000);
      listed.add(address);
      publish();
    }
  }

  private void crash(SimulatedActivator dead) {
    dead.crash();
    owners.values().removeIf(dead.id()::equals);
    loops.get(dead.id()).end();
    listed.remove(dead.id().address());
    if (listed.isEmpty()) {
      listed.add(alive().getFirst().id().address());
    }
    links.stream().filter(link -> link.isOf(dead)).forEach(link -> {
      var far = link.farSide(dead);
      link.endOf(dead);
      later(20_000, () -> far.loop().execute(() -> far.lending().onEnded(dead.id())));
    });
    links.removeIf(link -> link.isOf(dead));
  }

  /** After each start of a request. */
  private void check(PeerId at, Destination pod) {
    int running = running(pod);
    if (running <= highestLimit || !isExact()) {
      return;
    }
    var activator = activators.get(at);
    if (activator == null || activator.limit() > 0) {
      exceeded = true;
      assertThat(running).as("requests on %s after %s: %s", pod, world.elapsed(), views(pod))
          .isLessThanOrEqualTo(highestLimit);
    }
  }

  boolean hasExceeded() {
    return exceeded;
  }

  /** By Knative's rule activators share pods if there are few, and while their watches differ. */
  private boolean isExact() {
    if (withoutLimitFirst && !isCalm) {
      // What began without a limit may be above it.
      return false;
    }
    return !mixed || isCalm && pods.size() >= listed.size() && addresses().equals(listed);
  }

  /** After each event: at most one owner a pod, which has no idle permit above the limit. */
  private void checkBooks(SimulatedActivator activator) {
    if (faults != Faults.NONE || !isExact() || !activator.isAlive()) {
      // Only what a pod sees counts.
      return;
    }
    owners.values().removeIf(activator.id()::equals);
    var permits = activator.permits();
    boolean isSettling = activator.isSettling();
    for (var share : activator.books()) {
      if (!share.owned) {
        continue;
      }
      var other = owners.put(share.pod, activator.id());
      if (other != null) {
        throw new AssertionError(other + " owns " + share.pod + ", too, after " + world.elapsed());
      }
      int held = permits.permits(share.pod);
      // A borrower that was silent for too long may tell of what it had, which then counts again.
      if (!isSettling && held > permits.running(share.pod)
          && held + share.lent() > highestLimit) {
        throw new AssertionError(share.pod + " at " + activator.id() + ": " + held + " held, "
            + share.lent() + " lent");
      }
    }
  }

  /** Nothing fails any more, and all know the same. */
  void calm() {
    links.forEach(SimulatedLink::calm);
    if (revision.containerConcurrency() == 0) {
      revision = revision(1 + random.nextInt(3));
    }
    publishRevision();
    publish();
    advance(Duration.ofSeconds(40));
    links.forEach(SimulatedLink::connect);
    advance(Duration.ofSeconds(120));
    links.forEach(SimulatedLink::connect);
    advance(Duration.ofSeconds(20));
    isCalm = true;
  }

  /** Two round trips after more requests came than there is room for. */
  void fill() {
    if (!isExact()) {
      // As with Knative's alone.
      return;
    }
    alive().forEach(activator -> activator.hold(true));
    var at = any(alive());
    boolean everywhere = random.nextBoolean() && !withBlind;
    int permits = lendableTo(at) * revision.containerConcurrency();
    int requests = 1 + random.nextInt(permits + 3);
    IntStream.range(0, requests)
        .forEach(_ -> (everywhere && !mixed ? any(alive()) : at).request());
    // An owner that cannot reach a pod learns who can after a second.
    advance(Duration.ofMillis(withBlind ? 5_000 : 20));
    int running = pods.stream().mapToInt(this::running).sum();
    assertThat(running).as("%s requests at %s, %s permits: %s", requests, at.id(), permits,
        views()).isEqualTo(Math.min(requests, permits));
    for (int i = 0; everywhere && i < 5; i++) {
      any(alive()).answerOne();
      advance(Duration.ofMillis(20));
      int waiting = alive().stream().mapToInt(it -> (int) it.queued()).sum();
      int now = pods.stream().mapToInt(this::running).sum();
      assertThat(waiting == 0 || now == permits).as("%s wait, %s of %s run: %s", waiting, now,
          permits, views()).isTrue();
    }
    alive().forEach(activator -> activator.hold(false));
    if (withBlind) {
      at.callersLeave();
    }
  }

  /** How many pods may be used for the requests of one activator that lends. */
  private int lendableTo(SimulatedActivator activator) {
    int reached = (int) pods.stream().filter(pod -> !blindOf(activator).contains(pod)).count();
    return knative == null ? reached : reached - sliceOf(knative);
  }

  private int sliceOf(SimulatedActivator activator) {
    int index = listed.headSet(activator.id().address()).size();
    int rest = pods.size() % listed.size();
    return pods.size() / listed.size() + (index < rest ? 1 : 0);
  }

  private int running(Destination pod) {
    int sum = 0;
    sum += knative == null ? 0 : knative.running(pod);
    for (var activator : activators.values()) {
      sum += activator.running(pod);
    }
    return sum;
  }

  private String views(Destination pod) {
    return alive().stream()
        .map(it -> "\n" + it.id().process() + " runs " + it.running(pod) + it.view()
            .pods().stream().filter(share -> share.pod().equals(pod)).toList())
        .collect(Collectors.joining());
  }

  private String views() {
    return alive().stream().map(it -> "\n" + it.id() + " " + it.view())
        .collect(Collectors.joining());
  }

  /** With the one that does not lend. */
  private List<SimulatedActivator> all() {
    return Stream.concat(alive().stream(), Stream.ofNullable(knative)).toList();
  }

  /** All requests have ended, and idle permits are back at their owners. */
  void checkRest() {
    advance(Duration.ofSeconds(20));
    if (!isExact()) {
      return;
    }
    for (var activator : alive()) {
      assertThat(activator.queued()).isZero();
      for (var share : activator.view().pods()) {
        assertThat(share.lent()).as("%s at %s", share, activator.id()).isZero();
        if (pods.contains(share.pod()) && !blindOf(activator).contains(share.pod())) {
          assertThat(share.permits()).as("%s at %s", share, activator.id())
              .isEqualTo(share.owned() ? revision.containerConcurrency() : 0);
        }
      }
    }
  }
}
