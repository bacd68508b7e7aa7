package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.policy.PodSharding;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Activators with the real throttlers, in virtual time, whose requests end only when the test says so. */
abstract class LendingScene {
  static final Duration SERVICE = Duration.ofMillis(10);

  final VirtualLoop world = new VirtualLoop();
  final Random random = new Random(7);
  final List<SimulatedActivator> all = new ArrayList<>();
  final List<SimulatedLink> links = new ArrayList<>();
  Revision revision = revision(1, true);
  final List<PeerMessage> sent = new ArrayList<>();
  /** Their messages take 20 s. */
  final Set<PeerId> late = new HashSet<>();
  int started;
  /** Since {@link #twoShareOnePod}. */
  Destination pod;
  SimulatedActivator owner;
  SimulatedActivator borrower;
  Faults faults = Faults.NONE;

  static Revision revision(int limit, boolean exact) {
    return revision(limit, exact, Duration.ofMinutes(5), Map.of());
  }

  static Revision revision(int limit, boolean exact, Duration timeout,
      Map<String, String> annotations) {
    return new Revision(SimulatedActivator.ID, "", PortProtocol.HTTP1, limit,
        new RequestTimeouts(timeout, Duration.ZERO, Duration.ZERO), true,
        exact ? ReadinessProbeSpec.CONNECT : null, Map.of(), annotations, null);
  }

  void changed(Revision now) {
    all.forEach(it -> it.setRevision(now));
    pass(1_000);
  }

  @AfterEach
  void allEnd() {
    all.forEach(it -> it.hold(false));
    pass(5_000);
    assertThat(all).allSatisfy(it -> assertThat(it.queued()).isZero());
    all.forEach(it -> it.revisionGone());
    pass(1_000);
  }

  SimulatedActivator start() {
    return start("10.1.0." + (all.size() + 1));
  }

  SimulatedActivator start(String address) {
    var id = new PeerId(address, "p" + started++);
    var loop = new SkewedLoop(world, 1, 1_000_000, 10_000);
    var self = new SimulatedActivator(id, loop, revision, random, SERVICE, (to, message) -> {
      sent.add(message);
      Runnable send = () -> links.stream()
          .filter(link -> link.isOf(at(id)) && link.farSide(at(id)).id().equals(to))
          .forEach(link -> link.send(at(id), message));
      if (late.contains(id)) {
        world.schedule(Duration.ofSeconds(20), send);
      } else {
        send.run();
      }
    }, _ -> {
    });
    all.forEach(
        other -> links.add(new SimulatedLink(world, random, self, other, faults)));
    all.add(self);
    self.hold(true);
    return self;
  }

  SimulatedActivator at(PeerId id) {
    return all.stream().filter(it -> it.id().equals(id)).findFirst().orElseThrow();
  }

  Set<String> addresses() {
    return all.stream().map(it -> it.id().address()).collect(Collectors.toSet());
  }

  List<String> sorted() {
    return addresses().stream().sorted().toList();
  }

  void known() {
    all.forEach(it -> {
      it.activators(addresses());
      it.listed(sorted());
    });
    pass(1);
  }

  void connected() {
    links.forEach(SimulatedLink::connect);
    pass(1_000);
  }

  /** Starts activators that know each other, over links that are open. */
  void linked(int count) {
    IntStream.range(0, count).forEach(_ -> start());
    known();
    connected();
  }

  /** Starts two activators that are linked, and a pod, which one of them owns. */
  void twoShareOnePod() {
    linked(2);
    pods(pods(1));
    pod = pods(1).getFirst();
    owner = ownerOf(pod);
    borrower = other(owner);
  }

  void pass(int millis) {
    world.advance(Duration.ofMillis(millis));
  }

  static List<Destination> pods(int count) {
    return IntStream.range(0, count).mapToObj(i -> new Destination("10.2.0." + i, 8012)).toList();
  }

  void pods(List<Destination> pods) {
    all.forEach(it -> it.pods(pods));
    pass(1_000);
  }

  int running(Destination pod) {
    return all.stream().mapToInt(it -> it.running(pod)).sum();
  }

  boolean owns(SimulatedActivator activator, Destination pod) {
    return activator.view().pods().stream()
        .anyMatch(share -> share.pod().equals(pod) && share.owned());
  }

  @Nullable String ownerByHash(Destination pod) {
    return new PodSharding(sorted(), true, List.of()).owner(pod);
  }

  SimulatedActivator otherThanOwnerByHash(Destination pod) {
    return all.stream().filter(it -> !it.id().address().equals(ownerByHash(pod))).findFirst()
        .orElseThrow();
  }

  /** Of two. */
  SimulatedActivator other(SimulatedActivator than) {
    return all.get(1 - all.indexOf(than));
  }

  void requests(SimulatedActivator at, int count) {
    IntStream.range(0, count).forEach(_ -> at.request());
    pass(20);
  }

  SimulatedActivator ownerOf(Destination pod) {
    return all.stream().filter(it -> owns(it, pod)).findFirst().orElseThrow();
  }
}
