package dev.activator.throttle;

import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One revision and its throttler, in virtual time. */
abstract class ThrottlerScene {
  static final RevisionId ID = new RevisionId("test-namespace", "test-revision");
  static final Destination A = new Destination("128.0.0.1", 1234);
  static final Destination B = new Destination("128.0.0.2", 1234);
  static final Destination C = new Destination("128.0.0.3", 1234);
  static final Destination CLUSTER_IP = new Destination("129.0.0.1", 1234);
  static final String OWN = "130.0.0.2";
  static final RevisionStartFailure CRASH = new RevisionStartFailure("ExitCode1", "it crashed",
      "t1");

  final VirtualLoop loop = VirtualLoop.nearOverflow();
  final TestRevisions exist = new TestRevisions(loop);
  Throttler throttler = Make.throttler(exist.live, OWN, ThrottlerOptions.of(3),
      new Random(1));

  Revision revision = Revision.of(ID, 1);

  void exists(int containerConcurrency) {
    revision = Revision.of(ID, containerConcurrency);
    throttler.onRevision(exist.put(revision));
    loop.run();
  }

  void existsOverTcp() {
    revision = new Revision(ID, "", PortProtocol.TCP, 1, RequestTimeouts.DEFAULT, true, null,
        Map.of(), Map.of(), null);
    throttler.onRevision(exist.put(revision));
    loop.run();
  }

  void failsToStart(@Nullable RevisionStartFailure failure) {
    revision = new Revision(ID, "", revision.protocol(), revision.containerConcurrency(),
        RequestTimeouts.DEFAULT, true, null, Map.of(), Map.of(), failure);
    throttler.onRevision(exist.put(revision));
    loop.run();
  }

  void pods(Destination... pods) {
    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(pods)));
    loop.run();
  }

  void clusterIp(Destination... readyPods) {
    throttler.onDestinations(new HealthyDestinations(ID, CLUSTER_IP, DestinationSet.of(readyPods)));
    loop.run();
  }

  void activators(String... addresses) {
    throttler.onPublicAddresses(new PublicEndpointAddresses(ID, List.of(addresses), List.of()));
    loop.run();
  }

  HeldRequest request() {
    var request = new HeldRequest(loop);
    request.received(throttler.admit(exist.of(ID), request));
    loop.run();
    return request;
  }

  List<HeldRequest> requests(int count) {
    return IntStream.range(0, count).mapToObj(i -> request()).toList();
  }

  static List<@Nullable Destination> destinations(List<HeldRequest> requests) {
    var all = new ArrayList<@Nullable Destination>();
    requests.forEach(request -> all.add(request.destination()));
    return all;
  }
}
