package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.backend.RevisionBackendsView.Address;
import dev.activator.backend.RevisionBackendsView.Probe;
import dev.activator.backend.RevisionBackendsView;
import dev.activator.backend.policy.ProbePolicy;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.ext.console.WaitState.Kind;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.ext.coldstarts.ColdStartBreakdown;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.policy.DestinationSubset.ActivatorIndex;
import dev.activator.upstream.UpstreamFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WaitDiagnosisTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  private static final Destination A = new Destination("10.0.0.1", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final Destination IP = new Destination("10.1.1.1", 80);

  private record Routing(boolean podsAreProbed, boolean probesBeforeReady,
      @Nullable Address clusterIp, boolean byClusterIp) {}

  private static final ThrottleView.Bound NONE_BOUND = new ThrottleView.Bound(Map.of(), 0);

  private record Signals(boolean synced, @Nullable String stale, double closed,
      @Nullable String link, boolean newestFirst, ThrottleView.Bound bound,
      @Nullable Integer needPods) {
    Signals(boolean synced, @Nullable String stale, double closed, @Nullable String link,
        boolean newestFirst) {
      this(synced, stale, closed, link, newestFirst, NONE_BOUND, null);
    }
  }

  /** What a row says of a revision; everything else is as it should be. */
  private record Given(int queued, int inFlight, int capacity, List<Address> pods, Routing routing,
      @Nullable RevisionStartFailure failure, Signals signals, List<Destination> aside, int index) {
    static final Given QUIET = new Given(0, 0, 0, List.of(), new Routing(true, true, null, false),
        null, new Signals(true, null, 0, null, false), List.of(), -1);

    Given waiting(int now) {
      return new Given(now, inFlight, capacity, pods, routing, failure, signals, aside, index);
    }

    Given running(int now, int of) {
      return new Given(queued, now, of, pods, routing, failure, signals, aside, index);
    }

    Given pods(Address... now) {
      return new Given(queued, inFlight, capacity, List.of(now), routing, failure, signals, aside,
          index);
    }

    Given routing(boolean probed, boolean early, @Nullable Address clusterIp, boolean by) {
      return new Given(queued, inFlight, capacity, pods, new Routing(probed, early, clusterIp, by),
          failure, signals, aside, index);
    }

    Given failing(String reason, String message) {
      return new Given(queued, inFlight, capacity, pods, routing,
          new RevisionStartFailure(reason, message, ""), signals, aside, index);
    }

    Given lacking(String reason, String message) {
      return new Given(queued, inFlight, capacity, pods, routing,
          RevisionStartFailure.shown(reason, message), signals, aside, index);
    }

    Given signals(boolean synced, @Nullable String stale, @Nullable String link) {
      return new Given(queued, inFlight, capacity, pods, routing, failure,
          new Signals(synced, stale, 0, link, false), aside, index);
    }

    Given watchClosed(String resource, double seconds, String why) {
      return new Given(queued, inFlight, capacity, pods, routing, this.failure,
          new Signals(true, resource + ": " + why, seconds, null, false), aside, index);
    }

    Given newestFirst() {
      return new Given(queued, inFlight, capacity, pods, routing, failure,
          new Signals(true, null, 0, null, true), aside, index);
    }

    Given bound(Map<Destination, Integer> now) {
      return new Given(queued, inFlight, capacity, pods, routing, failure,
          new Signals(true, null, 0, null, false, new ThrottleView.Bound(now, 0), null), aside,
          index);
    }

    Given boundToSeveral(int now) {
      return new Given(queued, inFlight, capacity, pods, routing, failure,
          new Signals(true, null, 0, null, false, new ThrottleView.Bound(Map.of(), now), null),
          aside, index);
    }

    Given exclusive(int needPods) {
      return new Given(queued, inFlight, capacity, pods, routing, failure,
          new Signals(true, null, 0, null, false, NONE_BOUND, needPods), aside, index);
    }

    Given aside(Destination... now) {
      return new Given(queued, inFlight, capacity, pods, routing, failure, signals, List.of(now),
          index);
    }

    Given activator(int now) {
      return new Given(queued, inFlight, capacity, pods, routing, failure, signals, aside, now);
    }

    RevisionSnapshot snapshot() {
      return snapshot(Duration.ofMillis(2100), Duration.ZERO);
    }

    RevisionSnapshot snapshot(Duration asked, Duration usual) {
      boolean starting = queued > 0 && capacity == 0;
      var clusterIp = routing.clusterIp;
      var published = routing.byClusterIp && clusterIp != null
          ? new HealthyDestinations(HELLO, clusterIp.destination(), DestinationSet.NONE)
          : HealthyDestinations.pods(HELLO, DestinationSet.NONE);
      return new RevisionSnapshot(HELLO, Kind.REVISION,
          new RevisionBackendsView(published, pods, clusterIp,
              new ProbePolicy.MeshAddressing(
                  routing.podsAreProbed ? MeshMode.AUTO : MeshMode.ENABLED,
                  false),
              routing.probesBeforeReady),
          new ThrottleView.Details(
              new ThrottleView(HELLO, 2, capacity, inFlight, queued,
                  queued > 0 ? Duration.ofMillis(1700) : Duration.ZERO, signals.newestFirst,
                  List.of()),
              pods.size(),
              new ThrottleView.Queue(10, 0, WaitLimits.NONE, List.of(), Map.of(),
                  signals.bound, signals.needPods),
              new ThrottleView.Start(starting ? asked : null, usual, failure),
              new ActivatorIndex(index, index < 0 ? 0 : 3), aside, null,
              SharedPermitsView.ALONE),
          new AutoscalerLink.View("ws://autoscaler", signals.link == null, Duration.ZERO, 0,
              signals.link),
          new ApiState(signals.synced, watches()), LocalProcessProblems.NONE, "", null);
    }

    private List<ApiState.Watched> watches() {
      if (signals.stale == null) {
        return List.of();
      }
      var words = signals.stale.split(": ", 2);
      return List.of(new ApiState.Watched(words[0], false, true, signals.closed,
          words[1].equals("no watch is open") ? null : words[1]));
    }
  }

  private static Address pod(Destination at, boolean ready, boolean answers, boolean serves,
      int failures, String outcome) {
    return new Address(at, ready, answers, serves, false, failures,
        new Probe(outcome, failures > 0 || answers ? Duration.ofMillis(340) : null, null, false));
  }

  private static Address serving(Destination at) {
    return pod(at, true, true, true, 0, "answers");
  }

  private static Address failing(Destination at, boolean ready, int failures, String outcome) {
    return pod(at, ready, false, false, failures, outcome);
  }

  record Row(UnaryOperator<Given> given, WaitState state, String summary, String... missing) {
    @Override
    public String toString() {
      return state + ": " + summary;
    }
  }

  private static Row row(UnaryOperator<Given> given, WaitState state, String summary,
      String... missing) {
    return new Row(given, state, summary, missing);
  }

  static Stream<Row> table() {
    return Stream.of(
        row(now -> now, WaitState.AT_ZERO,
            "No request waits for default/hello-00001: it is at zero."),
        row(now -> now.signals(true, null, "refused"), WaitState.NO_AUTOSCALER,
            "No request waits for default/hello-00001: it is at zero, and no request can start a"
                + " pod while the link to the autoscaler is down (refused).",
            "the link to the autoscaler, which alone starts pods: refused"),
        row(now -> now.waiting(1).watchClosed("endpointslices", 12, "connection refused"),
            WaitState.NO_NEWS,
            "1 request waits for default/hello-00001: the Kubernetes API has given no news of pods"
                + " for 12.0 s (connection refused), so pods that started since are not seen;"
                + " before, no pod is listed; the autoscaler link is up; a pod was first requested"
                + " 2.1 s ago.",
            "a pod in the revision's private Endpoints",
            "news from the Kubernetes API: endpointslices: connection refused"),
        row(now -> now.watchClosed("endpoints", 2, "connection refused"), WaitState.NO_NEWS,
            "No request waits for default/hello-00001: the Kubernetes API has given no news of pods"
                + " for 2.0 s (connection refused), so pods that started since are not seen;"
                + " before, it is at zero.",
            "news from the Kubernetes API: endpoints: connection refused"),
        row(now -> now.watchClosed("endpoints", 1.9, "connection refused"), WaitState.AT_ZERO,
            "No request waits for default/hello-00001: it is at zero.",
            "news from the Kubernetes API: endpoints: connection refused"),
        row(now -> now.watchClosed("configmaps", 60, "connection refused"), WaitState.AT_ZERO,
            "No request waits for default/hello-00001: it is at zero.",
            "news from the Kubernetes API: configmaps: connection refused"),
        row(now -> now.pods(serving(A)).running(1, 2).watchClosed("endpoints", 60, "refused"),
            WaitState.SERVING,
            "No request waits for default/hello-00001: 1 request in flight on 1 pod.",
            "news from the Kubernetes API: endpoints: refused"),
        row(now -> now.pods(serving(A)).running(1, 2), WaitState.SERVING,
            "No request waits for default/hello-00001: 1 request in flight on 1 pod."),
        row(now -> now.pods(serving(A), serving(B)).running(0, Integer.MAX_VALUE),
            WaitState.SERVING,
            "No request waits for default/hello-00001: 0 requests in flight on 2 pods."),
        row(now -> now.pods(failing(A, false, 0, "not answered yet")), WaitState.STARTING,
            "No request waits for default/hello-00001: 1 pod is listed, and the first answer is"
                + " awaited.",
            "an answer to our probe"),
        row(now -> now.pods(serving(A)).running(0, 2).routing(true, true, serving(IP), true),
            WaitState.SERVING_BY_CLUSTER_IP,
            "No request waits for default/hello-00001: 0 requests in flight by the ClusterIP"
                + " 10.1.1.1:80, as pods cannot be addressed one by one."),
        row(now -> now.waiting(3), WaitState.NO_PODS,
            "3 requests wait for default/hello-00001: no pod is listed; the autoscaler link is up;"
                + " a pod was first requested 2.1 s ago.",
            "a pod in the revision's private Endpoints"),
        row(now -> now.waiting(1).signals(true, null, "connection refused"), WaitState.NO_PODS,
            "1 request waits for default/hello-00001: no pod is listed; the autoscaler link is down"
                + " (connection refused); a pod was first requested 2.1 s ago.",
            "a pod in the revision's private Endpoints",
            "the link to the autoscaler, which alone starts pods: connection refused"),
        row(now -> now.waiting(10), WaitState.NO_PODS,
            "10 requests wait for default/hello-00001: no pod is listed; the autoscaler link is up;"
                + " a pod was first requested 2.1 s ago; the queue is full, new requests are refused.",
            "a pod in the revision's private Endpoints"),
        row(now -> now.waiting(3).signals(true, "endpoints: no watch is open", null),
            WaitState.NO_PODS,
            "3 requests wait for default/hello-00001: no pod is listed; the autoscaler link is up;"
                + " a pod was first requested 2.1 s ago.",
            "a pod in the revision's private Endpoints",
            "news from the Kubernetes API: endpoints: no watch is open"),
        row(now -> now.waiting(3).pods(failing(A, false, 0, "not answered yet")),
            WaitState.NOT_PROBED_YET,
            "3 requests wait for default/hello-00001: 1 pod is listed, and the first answer is"
                + " awaited; the autoscaler link is up; a pod was first requested 2.1 s ago.",
            "an answer to our probe"),
        row(now -> now.waiting(3).pods(failing(A, false, 1, "answered 503"),
            failing(B, true, 12, "connection refused")), WaitState.NOT_ANSWERING,
            "3 requests wait for default/hello-00001: 2 pods are listed, and none answers our"
                + " probe: connection refused (10.0.0.2:8012, 12 times, last 340 ms ago); the"
                + " autoscaler link is up; a pod was first requested 2.1 s ago.",
            "a pod that answers our probe"),
        row(now -> now.waiting(3).pods(failing(A, true, 12, UpstreamFailure.EXPIRED.text()))
            .aside(A), WaitState.NOT_TRUSTED,
            "3 requests wait for default/hello-00001: 1 pod is listed, and TLS with none succeeds:"
                + " the pod's certificate is not trusted: it has expired, or is not valid yet"
                + " (10.0.0.1:8012, 12 times, last 340 ms ago); the autoscaler link is up; a pod"
                + " was first requested 2.1 s ago.",
            "a pod with a certificate that spec.tls trusts"),
        row(now -> now.waiting(1).pods(pod(A, false, true, false, 0, "answers"))
            .routing(true, false, null, false), WaitState.NOT_READY,
            "1 request waits for default/hello-00001: 1 pod is listed, 1 of them answers, and"
                + " Kubernetes, which alone knows when they are ready, calls none so; the"
                + " autoscaler link is up; a pod was first requested 2.1 s ago.",
            "a pod that Kubernetes calls ready"),
        row(now -> now.waiting(1).pods(serving(A)).aside(A), WaitState.NOT_DELIVERABLE,
            "1 request waits for default/hello-00001: 1 pod is listed, but requests could not be"
                + " delivered to [10.0.0.1:8012]: probes and requests take different paths (TLS,"
                + " network policy); the autoscaler link is up; a pod was first requested 2.1 s ago.",
            "a connection to a pod; the log has the failure of each"),
        row(now -> now.waiting(1).pods(new Address(A, true, false, false, true, 0,
            new Probe("answers", Duration.ofMillis(5), null, false))), WaitState.NOT_DELIVERABLE,
            "1 request waits for default/hello-00001: 1 pod is listed, but requests could not be"
                + " delivered to [10.0.0.1:8012]: probes and requests take different paths (TLS,"
                + " network policy); the autoscaler link is up; a pod was first requested 2.1 s ago.",
            "a connection to a pod; the log has the failure of each"),
        row(now -> now.waiting(1).pods(failing(A, true, 0, "not answered yet"))
            .routing(false, true, null, false), WaitState.NO_CLUSTER_IP,
            "1 request waits for default/hello-00001: pods must not be addressed"
                + " (mesh-compatibility-mode: enabled), and the private Service has no ClusterIP;"
                + " the autoscaler link is up; a pod was first requested 2.1 s ago.",
            "a ClusterIP, and a port of the revision's protocol, of the private Service"),
        row(now -> now.waiting(1).pods(failing(A, true, 0, "not answered yet"))
            .routing(false, true, failing(IP, true, 1, "answered 503"), false),
            WaitState.NO_CLUSTER_IP,
            "1 request waits for default/hello-00001: the ClusterIP does not answer our probe:"
                + " answered 503 (10.1.1.1:80, once, last 340 ms ago); the autoscaler link is up;"
                + " a pod was first requested 2.1 s ago.",
            "an answer from the ClusterIP"),
        row(now -> now.waiting(1).pods(failing(A, false, 0, "not answered yet"))
            .routing(false, true, failing(IP, true, 0, "not answered yet"), false),
            WaitState.NOT_READY,
            "1 request waits for default/hello-00001: 1 pod is listed, and Kubernetes calls none"
                + " ready, so the ClusterIP has no endpoint; the autoscaler link is up;"
                + " a pod was first requested 2.1 s ago.",
            "a pod that Kubernetes calls ready"),
        row(now -> now.waiting(2).pods(failing(A, false, 3, "connection refused"))
            .failing("ImagePullBackOff", "Back-off pulling image \"no/such\""),
            WaitState.CANNOT_START,
            "2 requests wait for default/hello-00001: its containers do not start:"
                + " ImagePullBackOff (Back-off pulling image \"no/such\"); the autoscaler link is"
                + " up; a pod was first requested 2.1 s ago.",
            "containers that start"),
        row(now -> now.waiting(2).pods(failing(A, false, 3, "connection refused"))
            .failing("ProgressDeadlineExceeded", "nothing listens on its PORT 24049"),
            WaitState.OVERDUE,
            "2 requests wait for default/hello-00001: nothing listens on its PORT 24049; the"
                + " autoscaler link is up; a pod was first requested 2.1 s ago.",
            "a pod that is ready"),
        row(now -> now.waiting(2).failing("NotTriggerScaleUp", "pod didn't trigger scale-up"),
            WaitState.NO_NODE,
            "2 requests wait for default/hello-00001: no node takes its pods: NotTriggerScaleUp"
                + " (pod didn't trigger scale-up); the autoscaler link is up; a pod was first"
                + " requested 2.1 s ago.",
            "a node that takes its pods"),
        row(now -> now.failing("ExitCode1", ""), WaitState.CANNOT_START,
            "No request waits for default/hello-00001: its containers do not start: ExitCode1.",
            "containers that start"),
        row(now -> now.lacking("TargetNotFound", "there is no Deployment web"),
            WaitState.CANNOT_SCALE,
            "No request waits for default/hello-00001: no pod can start: TargetNotFound (there is no"
                + " Deployment web).",
            "there is no Deployment web"),
        row(now -> now.waiting(5).pods(serving(A), serving(B)).running(4, 4), WaitState.BUSY,
            "5 requests wait for default/hello-00001: all 4 permits are in use on 2 pods; the first"
                + " has waited 1.7 s.",
            "more pods, or requests that end"),
        row(now -> now.waiting(5).pods(serving(A), serving(B)).running(2, 2).activator(0),
            WaitState.BUSY,
            "5 requests wait for default/hello-00001: all 2 permits are in use on 2 pods (this is"
                + " activator 1 of 3, and has its share of 2 pods); the first has waited 1.7 s.",
            "more pods, or requests that end"),
        row(now -> now.waiting(5).pods(serving(A)).running(2, 2).newestFirst(), WaitState.BUSY,
            "5 requests wait for default/hello-00001: all 2 permits are in use on 1 pod, and callers"
                + " leave before they are served, so the newest request runs first; the first has"
                + " waited 1.7 s.",
            "more pods, or requests that end"),
        row(now -> now.waiting(10).pods(serving(A)).running(2, 2), WaitState.QUEUE_FULL,
            "10 requests wait for default/hello-00001: all 2 permits are in use on 1 pod, and so are"
                + " all 10 in the queue: new requests are refused; the first has waited 1.7 s.",
            "more pods, or a longer queue"),
        row(now -> now.waiting(3).pods(serving(A), serving(B)).running(2, 4)
            .bound(Map.of(A, 2, B, 1)),
            WaitState.BOUND,
            "3 requests wait for default/hello-00001: 2 may run only on 10.0.0.1:8012, to which their"
                + " keys belong, 1 may run only on 10.0.0.2:8012, to which its key belongs; the first"
                + " has waited 1.7 s.",
            "requests that end at 10.0.0.1:8012, 10.0.0.2:8012"),
        row(now -> now.waiting(3).pods(serving(A), serving(B)).running(2, 4).boundToSeveral(3),
            WaitState.BOUND,
            "3 requests wait for default/hello-00001: 3 may run only on the pods that their gateway"
                + " names; the first has waited 1.7 s.",
            "requests that end at these pods"),
        row(now -> now.waiting(5).pods(serving(A), serving(B)).running(4, 4).bound(Map.of(A, 2)),
            WaitState.BUSY,
            "5 requests wait for default/hello-00001: all 4 permits are in use on 2 pods; the first"
                + " has waited 1.7 s; 2 may run only on 10.0.0.1:8012, to which their keys belong.",
            "more pods, or requests that end"),
        row(now -> now.waiting(5).pods(serving(A), serving(B)).running(2, 2).exclusive(3),
            WaitState.EXCLUSIVE,
            "5 requests wait for default/hello-00001: 3 wait for a pod that no other key has, 2 wait"
                + " for room on the pod of their keys; the first has waited 1.7 s.",
            "more pods, or keys whose requests end"),
        row(now -> now.waiting(1).pods(serving(A), serving(B)).running(1, 2).exclusive(0),
            WaitState.EXCLUSIVE,
            "1 request waits for default/hello-00001: 1 waits for room on the pod of its key;"
                + " the first has waited 1.7 s.",
            "more pods, or keys whose requests end"),
        row(now -> now.waiting(1).pods(serving(A), serving(B)).running(1, 2).exclusive(1),
            WaitState.MOVING,
            "1 request waits for default/hello-00001: there is room, and they are about to run on 2"
                + " pods; the first has waited 1.7 s."),
        row(now -> now.waiting(1).pods(serving(A)).running(1, 2), WaitState.MOVING,
            "1 request waits for default/hello-00001: there is room, and they are about to run on"
                + " 1 pod; the first has waited 1.7 s."),
        row(now -> now.waiting(1).signals(false, "revisions: connection refused", null),
            WaitState.NOT_SYNCED,
            "1 request waits for default/hello-00001: the first lists of the Kubernetes"
                + " API are not complete; the autoscaler link is up; a pod was first requested 2.1 s ago.",
            "complete lists: [revisions: connection refused]"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("table")
  void saysWhatKeepsRequestsFromRunning(Row row) {
    var now = row.given().apply(Given.QUIET).snapshot();
    var diagnosis = WaitDiagnosis.of(now);

    assertThat(diagnosis.summary()).isEqualTo(row.summary());
    assertThat(diagnosis.state()).isEqualTo(row.state());
    assertThat(diagnosis.missing()).containsExactly(row.missing());
    assertThat(CallerReason.of(now)).doesNotContain("10.", "autoscaler link", "Back-off");
  }

  @Test
  void namesTheActivatorsThatOwnOtherPods() {
    var now = Given.QUIET.waiting(1).pods(serving(A), serving(B)).running(2, 2).snapshot();
    var queue = now.queue();
    var lending = new SharedPermitsView(SharedPermitsView.Sharing.OWNED,
        List.of("10.9.0.1", "10.9.0.2"), true,
        List.of(new SharedPermitsView.PodShare(A, "10.9.0.1", true, 2, 0),
            new SharedPermitsView.PodShare(B, "10.9.0.2", false, 0, 0)),
        List.of());

    var shared = new RevisionSnapshot(HELLO, Kind.REVISION, now.backends(),
        new ThrottleView.Details(queue.now(), queue.destinations(), queue.queue(), queue.start(),
            queue.activator(), queue.ejected(), null, lending),
        now.link(), now.api(), LocalProcessProblems.NONE, "", null);

    assertThat(WaitDiagnosis.of(shared).summary()).contains(
        "(2 activators share them: 2 more are at the others, 10.0.0.2:8012 at 10.9.0.2)");
    assertThat(CallerReason.of(shared)).doesNotContain("10.");
  }

  @Test
  void givesCallersTheCauseInShort() {
    assertThat(forCallers(now -> now.waiting(3))).isEqualTo("no pod is listed");
    assertThat(forCallers(now -> now.waiting(3).signals(true, null, "refused by 10.0.0.9")))
        .isEqualTo("no pod is listed, and the autoscaler is not connected");
    assertThat(forCallers(now -> now.waiting(3).pods(failing(A, false, 1, "answered 503"),
        failing(B, true, 12, "connection refused")))).isEqualTo(
            "2 pods are listed, and none answers our probe: connection refused (12 times)");
    assertThat(forCallers(now -> now.waiting(5).pods(serving(A)).running(2, 2)))
        .isEqualTo("all 2 permits are in use on 1 pod");
    assertThat(forCallers(now -> now.waiting(2).failing("ErrImagePull", "registry.corp:5000")))
        .isEqualTo("its containers do not start: ErrImagePull");
  }

  private static String forCallers(UnaryOperator<Given> given) {
    return CallerReason.of(given.apply(Given.QUIET).snapshot());
  }

  @Test
  void saysWhatToDoInASentenceForEachState() {
    for (var kind : Kind.values()) {
      assertThat(WaitState.values()).extracting(state -> state.whatToDo(kind))
          .allMatch(each -> each.endsWith(".") && Character.isUpperCase(each.charAt(0)));
    }
  }

  @Test
  void whatToDoUsesNoWordsOfTheOtherMode() {
    // Where a mesh forbids requests to pods: only with Knative.
    var onlyThere = EnumSet.of(WaitState.SERVING_BY_CLUSTER_IP, WaitState.NO_CLUSTER_IP);

    assertThat(EnumSet.complementOf(onlyThere))
        .extracting(state -> state.whatToDo(Kind.SCALED_SERVICE)).noneMatch(each -> each
            .matches(".*(max-scale|autoscaler's|knative|[$]PORT|private|mesh).*"));
    assertThat(WaitState.values()).filteredOn(state -> state != WaitState.CANNOT_SCALE)
        .extracting(state -> state.whatToDo(Kind.REVISION))
        .noneMatch(
            each -> each.matches(".*(maxReplicas|scaledservice|ScaledService|its Service).*"));
  }

  @Test
  void theTableHasEveryStateThatARevisionCanBeIn() {
    // LostPeerTest has the states that depend on other activators.
    var seen = EnumSet.of(WaitState.UNKNOWN, WaitState.RESTARTING, WaitState.AT_PEERS,
        WaitState.PEER_LOST);
    table().forEach(row -> seen.add(row.state()));

    assertThat(seen).isEqualTo(EnumSet.allOf(WaitState.class));
    assertThat(WaitDiagnosis.unknown(HELLO, Kind.REVISION).summary())
        .isEqualTo("There is no revision or Service default/hello-00001.");
  }

  @Test
  void saysHowLongAStartUsuallyTakes() {
    var known = Given.QUIET.waiting(1).snapshot(Duration.ofMinutes(3), Duration.ofMillis(900));

    assertThat(WaitDiagnosis.of(known).summary())
        .endsWith("; a pod was first requested 3 min ago, a start usually takes 900 ms.");
  }

  private static RevisionSnapshot starting(boolean podsRead, String pod, String reason,
      StartPhase... ended) {
    var ends = new EnumMap<StartPhase, Long>(StartPhase.class);
    for (var phase : ended) {
      ends.put(phase, -4_000_000_000L);
    }
    var now = Given.QUIET.waiting(1).snapshot(Duration.ofSeconds(5), Duration.ZERO);
    return new RevisionSnapshot(now.revision(), now.kind(), now.backends(), now.queue(),
        now.link(), now.api(), now.processes(), "",
        new ColdStartBreakdown(ends, podsRead).inProgress(pod, reason,
            reason.isEmpty() ? "" : "Back-off pulling image \"x\""));
  }

  @Test
  void saysWhatThePodWaitsFor_ifItsStatusIsRead() {
    assertThat(WaitDiagnosis.of(starting(true, "web-1", "ImagePullBackOff", StartPhase.CREATE,
        StartPhase.SCHEDULE, StartPhase.INIT)).summary()).endsWith("; a pod was first requested"
            + " 5.0 s ago; pod web-1 has waited for its images and containers for 4.0 s"
            + " (ImagePullBackOff: Back-off pulling image \"x\").");
    assertThat(WaitDiagnosis.of(starting(true, "web-1", "", StartPhase.CREATE)).summary())
        .endsWith("; pod web-1 has waited for a node for 4.0 s.");
    assertThat(WaitDiagnosis.of(starting(true, "", "", StartPhase.SCALE)).summary())
        .endsWith("; it has waited for the creation of a pod for 4.0 s.");
    assertThat(CallerReason.of(starting(true, "web-1", "ImagePullBackOff", StartPhase.CREATE,
        StartPhase.SCHEDULE, StartPhase.INIT)))
        .isEqualTo("no pod is listed: it waits for its images and containers");
    assertThat(CallerReason.of(starting(true, "web-1", "TriggeredScaleUp", StartPhase.CREATE)))
        .isEqualTo("no pod is listed: it waits for a node, which is being added");
    // what the summary says if the API does not answer, on a connection that is open, or refuses it
    assertThat(WaitDiagnosis.of(starting(false, "", "", StartPhase.SCALE)).summary())
        .endsWith("; a pod was first requested 5.0 s ago; it is unknown whether its pod was"
            + " created, as the Kubernetes API has not listed the pods of the revision.");
  }

  @Test
  void reportsThePhasesOfAStart() {
    var start = RevisionWaitReport
        .of(starting(true, "web-1", "", StartPhase.SCALE, StartPhase.CREATE),
            null, null, null, null, _ -> null)
        .start();

    assertThat(start.waitsFor()).isEqualTo("pod web-1 has waited for a node for 4.0 s");
    assertThat(start.phaseSeconds()).containsExactly(entry("scale", 1.0), entry("create", 0.0),
        entry("schedule", 4.0));
  }

  @Test
  void saysWhatKeepsAProcessOfThisMachineFromBeingReady() {
    var probed = Given.QUIET.waiting(3).pods(failing(A, false, 12, "connection refused"))
        .snapshot();
    var local = new RevisionSnapshot(probed.revision(), Kind.REVISION, probed.backends(),
        probed.queue(), probed.link(), probed.api(), new LocalProcessProblems(
            "process 7 runs, nothing listens on its PORT 24049", false, List.of(), List.of()),
        "", null);

    var diagnosis = WaitDiagnosis.of(local);

    assertThat(diagnosis.state()).isEqualTo(WaitState.NOT_ANSWERING);
    assertThat(diagnosis.summary())
        .contains("1 pod is listed, and process 7 runs, nothing listens on its PORT 24049;");
    assertThat(CallerReason.of(local))
        .isEqualTo("process 7 runs, nothing listens on its PORT 24049");
  }

  @Test
  void aProcessThatServedAndEndedIsRestarting() {
    var probed = Given.QUIET.waiting(1).pods(failing(A, false, 1, "connection refused"))
        .snapshot();
    var ended = "process of hello ended with exit code 3: no database";
    var local = new RevisionSnapshot(probed.revision(), Kind.REVISION, probed.backends(),
        probed.queue(), probed.link(), probed.api(),
        new LocalProcessProblems(ended + "; it is started again", true,
            List.of(new LocalProcessProblems.Restarted("pod-1", 2, Instant.EPOCH, ended)),
            List.of("up", "no database")),
        "", null);

    var diagnosis = WaitDiagnosis.of(local);
    var report = RevisionWaitReport.of(local, null, null, null, null, _ -> null);

    assertThat(diagnosis.state()).isEqualTo(WaitState.RESTARTING);
    assertThat(diagnosis.summary()).startsWith("1 request waits for default/hello-00001: " + ended
        + "; it is started again; the autoscaler link is up;");
    assertThat(CallerReason.of(local)).isEqualTo(ended + "; it is started again");
    assertThat(report.processes()).isEqualTo(new RevisionWaitReport.ProcessesReport(
        List.of(new RevisionWaitReport.RestartReport("pod-1", 2, "1970-01-01T00:00:00Z", ended)),
        List.of("up", "no database")));
  }

  @Test
  void saysThatPodsAreAsleep_insteadOfThatThereIsNone() {
    var now = Given.QUIET.waiting(3).snapshot();
    var asleep = new RevisionSnapshot(now.revision(), Kind.SCALED_SERVICE, now.backends(),
        now.queue(), now.link(), now.api(), now.processes(), "its pods are being woken",
        now.start());

    assertThat(WaitDiagnosis.of(asleep).summary())
        .startsWith("3 requests wait for default/hello-00001: its pods are being woken;");
    assertThat(CallerReason.of(asleep)).isEqualTo("its pods are being woken");
  }
}
