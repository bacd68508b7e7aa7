package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A throttler with one revision, requests for it, and all of them on one loop. */
public final class OneRevision {
  public static final RevisionId ID = new RevisionId("ns", "rev");
  public static final Destination A = new Destination("10.0.0.1", 8012);
  static final Destination B = new Destination("10.0.0.2", 8012);
  static final Destination C = new Destination("10.0.0.3", 8012);

  public final VirtualLoop loop = VirtualLoop.nearOverflow();
  final List<Destination> unreachable = new ArrayList<>();
  public final TestRevisions revisions = new TestRevisions(loop);
  public final Throttler throttler;
  private Revision revision;

  /** It exists, and has no pods. */
  public OneRevision(int containerConcurrency, String... annotations) {
    revision = revision(containerConcurrency, annotations);
    throttler = Make.throttler(revisions.live, 10_000);
    throttler.unreachable().subscribe("test", now -> unreachable.add(now.destination()));
    throttler.onRevision(revisions.put(revision));
    loop.run();
  }

  private static Revision revision(int containerConcurrency, String... annotations) {
    var map = IntStream.range(0, annotations.length / 2).boxed().collect(
        Collectors.toMap(i -> annotations[2 * i], i -> annotations[2 * i + 1]));
    return new Revision(ID, "", PortProtocol.HTTP1, containerConcurrency, RequestTimeouts.DEFAULT,
        true, null, Map.of(), map, null);
  }

  /** It is changed. */
  void changes(int containerConcurrency, String... annotations) {
    revision = revision(containerConcurrency, annotations);
    throttler.onRevision(revisions.put(revision));
    loop.run();
  }

  public void pods(Destination... pods) {
    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(pods)));
    loop.run();
  }

  void clusterIp(Destination address, Destination... ready) {
    throttler.onDestinations(new HealthyDestinations(ID, address, DestinationSet.of(ready)));
    loop.run();
  }

  /** Its requests choose their pods. */
  void requestsChoose() {
    throttler.choose(revisions.of(ID), caller -> ((HeldRequest) caller).choice());
  }

  HeldRequest request(PodChoice choice) {
    return request(new HeldRequest(loop).choosing(choice));
  }

  public HeldRequest request() {
    return request(new HeldRequest(loop));
  }

  HeldRequest request(Duration patience) {
    return request(new HeldRequest(loop).patience(patience));
  }

  /** One that arrived on a loop of the process. */
  HeldRequest requestOn(Loop its) {
    return request(new HeldRequest(its));
  }

  private HeldRequest request(HeldRequest request) {
    request.received(throttler.admit(revisions.of(ID), request));
    loop.run();
    return request;
  }

  List<HeldRequest> requests(int count) {
    return IntStream.range(0, count).mapToObj(_ -> request()).toList();
  }

  ThrottleDecision admit(QueuedCaller waiter) {
    return throttler.admit(revisions.of(ID), waiter);
  }

  QueueEntry place() {
    var caller = new HeldRequest(loop);
    var place = (QueueEntry) admit(caller);
    caller.received(place);
    return place;
  }

  ThrottleView view() {
    return throttler.view(ID);
  }

  static List<@Nullable Destination> destinations(List<HeldRequest> requests) {
    var all = new ArrayList<@Nullable Destination>();
    requests.forEach(request -> all.add(request.destination()));
    return all;
  }

  static long running(List<HeldRequest> requests) {
    return requests.stream().filter(HeldRequest::runs).count();
  }
}
