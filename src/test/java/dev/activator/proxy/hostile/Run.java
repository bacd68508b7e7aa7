package dev.activator.proxy.hostile;

import dev.activator.config.WaitingPageMode;
import dev.activator.testing.TestRevisions;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.loop.NettyLoop;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.hostile.Caller.Call;
import dev.activator.proxy.hostile.CallerScript.Reading;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.proxy.ProxyServer;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.ColdStartRules.ColdStartFallback;
import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ColdStartRules;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.network.SimulatedNetwork.Answer;
import dev.activator.testing.network.SimulatedNetwork;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.throttle.Throttler;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.ConnectionPoolsByLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The request path of the product between the callers and the pod of one sequence. */
final class Run {
  private static final RevisionId REVISION = new RevisionId("default", "hello-00001");
  /** To which requests fall back. */
  private static final RevisionId OTHER = new RevisionId("default", "hello-00002");
  private static final Destination POD = new Destination("10.1.1.1", 8012);
  private static final Duration STEP = Duration.ofSeconds(5);
  private static final int STEPS_UNTIL_TIMEOUT = 40;
  /** Idle connections are closed after 90 seconds. */
  private static final int STEPS_UNTIL_CLOSED = 60;
  private static final Duration START_KEPT = Duration.ofSeconds(70);
  private static final int MAX_STEPS = 2_000;
  /** Between two steps. */
  private static final int MAX_PAUSE_NANOS = 100_000;
  /** A method that is on the stack more often recurses. */
  private static final int MAX_DEPTH = 3;
  private static final StackWalker STACK = StackWalker.getInstance();

  /** What the revision's owner says; drawn from the seed, so that it stays when scripts shrink. */
  private enum Rules {
    NONE,
    /** The revision has no pods, and every request goes to another one at once. */
    FALL_BACK,
    /** Every request is answered without a pod if none has room, and is never counted. */
    DO_NOT_WAKE,
    /** Tunnels soon do not count. */
    IGNORE_SILENT_TUNNELS;

    static Rules of(Sequence sequence) {
      return switch (Math.floorMod(sequence.seed(), 8)) {
        case 1 -> FALL_BACK;
        case 3 -> DO_NOT_WAKE;
        case 5 -> IGNORE_SILENT_TUNNELS;
        default -> NONE;
      };
    }

    @Nullable ColdStartRules rules() {
      return switch (this) {
        case NONE -> null;
        case FALL_BACK -> new ColdStartRules(List.of(),
            new ColdStartFallback(Duration.ZERO, OTHER.name(), null), null, List.of());
        case DO_NOT_WAKE -> new ColdStartRules(
            List.of(new DoNotWakeRule(null, null, List.of(), ConfiguredResponse.ok(), false)), null,
            null,
            List.of());
        case IGNORE_SILENT_TUNNELS -> new ColdStartRules(List.of(), null, Duration.ofSeconds(1),
            List.of());
      };
    }
  }

  private final Sequence sequence;
  private final Rules rules;
  private final Random random;
  private final SimulatedNetwork network;
  /** The one that all requests name, and the one that has the pod. */
  private final TestRevisions revisions;
  private final RevisionId withPod;
  private final Throttler throttler;
  private final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(256 << 20));
  private final UnreadResponseBytes unread = new UnreadResponseBytes(
      new UnreadResponseBudget(256 << 20));
  private final ProxyServer server;
  private final Pod pod;
  private final List<Caller> callers = new ArrayList<>();
  private final List<String> story = new ArrayList<>();
  private final Map<RequestTimeline, Boolean> open = new HashMap<>();
  private final List<Outcome> outcomes = new ArrayList<>();
  private final Map<RevisionId, Integer> counted = new HashMap<>();
  private boolean drained;
  private @Nullable String recursion;

  Run(Sequence sequence) {
    this.sequence = sequence;
    this.rules = Rules.of(sequence);
    this.withPod = rules == Rules.FALL_BACK ? OTHER : REVISION;
    this.random = new Random(sequence.seed());
    this.network = new SimulatedNetwork(random);
    this.pod = new Pod(sequence, random, this::tell);
    revisions = new TestRevisions(network.loop(), revision(OTHER),
        TestValues.withRules(revision(REVISION), rules.rules()));
    network.pods(_ -> sequence.podRefuses() ? Answer.REFUSE : Answer.ACCEPT, pod::accept);
    this.throttler = Make.throttler(revisions.live, Make.OWN_ADDRESS,
        ThrottlerOptions.of(100), random);
    var loops = network.loops();
    var upstreams = Quiescence
        .watch(new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, TcpKeepAlive.TO_PODS, random,
            new PodTls(TestRevisions.unused())));
    var router = new Router(new RevisionResolver.Knative("cluster.local", (_, _, _) -> null),
        _ -> null, revisions.live, Readiness.Ready::new,
        Dispatchers.arrival(WaitingPageMode.OFF, List.of()));
    this.server = new ProxyServer(network.loop().eventLoop(), network.loop().eventLoop(), loops,
        Duration.ofSeconds(10), loop -> dispatcher(loop, router, upstreams));
    revisions.live.all().forEach(throttler::onRevision);
    throttler.onDestinations(HealthyDestinations.pods(withPod, DestinationSet.of(POD)));
    network.settle();
  }

  private Revision revision(RevisionId id) {
    return new Revision(id, "", PortProtocol.HTTP1, sequence.concurrencyLimit(),
        new RequestTimeouts(Duration.ofSeconds(40), Duration.ofSeconds(20),
            Duration.ofSeconds(15)),
        true, null, Map.of(), Map.of(), null);
  }

  private RequestDispatcher dispatcher(NettyLoop loop, Router router,
      ConnectionPoolsByLoop upstreams) {
    return Dispatchers.with(loop, router, throttler::admit, upstreams.of(loop))
        .counter(new Counter())
        .observer(new Observer()).fallbacks(revisions.live).held(held.share())
        .unread(unread.share(loop)).build();
  }

  /** What went wrong; empty if nothing did. */
  List<String> faults() {
    var faults = new ArrayList<String>();
    try {
      play();
      judge(faults);
      end(faults);
    } catch (AssertionError | RuntimeException e) {
      faults.add(e.toString() + at(e));
    }
    return faults;
  }

  private static String at(Throwable e) {
    return e instanceof AssertionError
        ? ""
        : " at " + Arrays.stream(e.getStackTrace()).limit(6).toList();
  }

  String story() {
    return sequence + "\n" + rules + "\n" + String.join("\n", story);
  }

  private void tell(String what) {
    story.add("  " + network.nanoTime() / 1_000_000 + " ms: " + what);
  }

  private void play() {
    if (sequence.warm()) {
      warm();
    }
    for (int i = 0; i < sequence.plans().size(); i++) {
      if (i == 0 || !sequence.oneConnection()) {
        callers.add(caller());
      }
      callers.getLast().calls.add(new Call(i, sequence.plans().get(i).caller()));
    }
    act();
    for (int i = 0; i < STEPS_UNTIL_TIMEOUT && !isOver(); i++) {
      network.advance(STEP);
      tell("time passes");
      act();
    }
  }

  private boolean isOver() {
    return callers.stream().allMatch(one -> one.isAnswered()
        && one.calls.stream().allMatch(call -> call.script.reading() != Reading.NEVER));
  }

  private Caller caller() {
    var peer = network.connect(server::accept);
    return sequence.version().isHttp2()
        ? new Http2Caller(peer, sequence.callerWindow(), random, this::tell)
        : new Http1Caller(peer, sequence.version() == Sequence.Version.HTTP_1_0, this::tell);
  }

  /** Leaves an idle connection to the pod. */
  private void warm() {
    var version = sequence.version();
    var peer = network.connect(server::accept);
    Caller first = version.isHttp2()
        ? new Http2Caller(peer, 65_535, random, this::tell)
        : new Http1Caller(peer, false, this::tell);
    first.calls.add(new Call(sequence.plans().size(), CallerScript.get()));
    callers.add(first);
    act();
    callers.remove(first);
    peer.close();
    network.settle();
  }

  /** Steps of both sides in any order, with more or less of the product's work in between. */
  private void act() {
    for (int i = 0; i < MAX_STEPS; i++) {
      network.advance(Duration.ofNanos(random.nextInt(MAX_PAUSE_NANOS)));
      if (sequence.drains() && !drained && random.nextInt(8) == 0) {
        drained = true;
        tell("callers are asked to leave");
        server.announceDrain();
      }
      if (random.nextInt(3) == 0) {
        network.settle();
      } else if (random.nextBoolean()) {
        network.turn();
      }
      read();
      if (!step()) {
        settle();
        if (!step()) {
          return;
        }
      }
    }
    throw new AssertionError("the scripts do not end");
  }

  private void settle() {
    do {
      network.settle();
    } while (read());
  }

  /** Whether anything had come. */
  private boolean read() {
    boolean any = false;
    for (var caller : callers) {
      any |= caller.read();
    }
    return pod.read() || any;
  }

  private boolean step() {
    int first = random.nextInt(callers.size() + 1);
    for (int i = 0; i <= callers.size(); i++) {
      int next = (first + i) % (callers.size() + 1);
      if (next == callers.size() ? pod.step() : callers.get(next).step()) {
        return true;
      }
    }
    return false;
  }

  private void judge(List<String> faults) {
    for (var caller : callers) {
      for (var call : caller.calls) {
        judge(caller, call, faults);
      }
    }
    for (var one : pod.served) {
      if (one.index < sequence.plans().size()) {
        judge(one, faults);
      }
    }
  }

  List<Outcome> outcomes() {
    return outcomes;
  }

  private void judge(Caller caller, Call call, List<String> faults) {
    var outcome = caller.outcome(call);
    outcomes.add(outcome);
    var expected = Oracle.expected(sequence, call.index);
    if (rules == Rules.DO_NOT_WAKE) {
      // Where others wait for a permit, or for another pod.
      expected.add(Outcome.REFUSED);
    }
    if (!expected.contains(outcome)) {
      faults.add("/" + call.index + " is " + outcome + " where " + expected + " is expected: "
          + call.response);
    }
    long copies = pod.served.stream().filter(one -> one.index == call.index && one.processed)
        .count();
    if (copies > 1 && !call.script.method().isIdempotent()) {
      faults.add("the pod was sent " + copies + " copies of /" + call.index);
    }
    String mark = call.response.field("x-pod");
    if (mark != null) {
      judge(call, mark, outcome, faults);
      if (call.response.status() == 101) {
        judgeTunnel(caller, call, faults);
      }
    }
  }

  private void judge(Call call, String mark, Outcome outcome, List<String> faults) {
    var origin = pod.served.stream()
        .filter(one -> mark.equals(one.index + "-" + one.attempt)).findFirst().orElseThrow();
    if (origin.index != call.index) {
      faults.add("/" + call.index + " got the response to /" + origin.index);
      return;
    }
    var script = origin.script;
    int status = script.switches() ? 101 : script.status();
    if (call.response.status() != status) {
      faults.add("/" + call.index + " got the status " + call.response.status());
    }
    boolean bodyless = script.isBodyless(call.script.method()) || script.switches();
    byte[] all = Contents.response(call.index, 0,
        bodyless ? 0 : script.parts() * script.partBytes());
    byte[] got = call.response.body.toByteArray();
    boolean cutByItsEnd = script.framing() == PodScript.Framing.CONNECTION;
    if (!isPrefix(got, all) || outcome == Outcome.COMPLETE && got.length < all.length
        && !cutByItsEnd) {
      faults.add("/" + call.index + " got " + got.length + " bytes that are not the pod's "
          + all.length);
    }
  }

  private void judgeTunnel(Caller caller, Call call, List<String> faults) {
    var toPod = pod.tunnels.get(call.index).otherProtocol.toByteArray();
    var later = ((Http1Caller) caller).later();
    var early = Http1Caller.early(call.script);
    byte[] both = Arrays.copyOf(early, early.length + later.length);
    System.arraycopy(later, 0, both, early.length, later.length);
    if (!isPrefix(toPod, both)) {
      faults.add("the pod got other bytes than were sent in the other protocol: "
          + new String(toPod));
    }
    var script = sequence.plans().get(call.index).first();
    if (!isPrefix(caller.otherProtocol(),
        Contents.response(call.index, 0, script.parts() * script.partBytes()))) {
      faults.add("the caller got other bytes than were sent in the other protocol");
    }
  }

  private void judge(Pod.Served one, List<String> faults) {
    var script = sequence.plans().get(one.index).caller();
    byte[] got = one.request.body.toByteArray();
    byte[] all = Contents.request(one.index, 0, script.bodyBytes());
    if (!isPrefix(got, all) || one.request.complete
        && (got.length < all.length || script.hasBody() && !script.completes())) {
      faults.add("the pod got " + got.length + " bytes" + (one.request.complete ? ", all" : "")
          + ", that are not the " + all.length + " of /" + one.index);
    }
  }

  private static boolean isPrefix(byte[] part, byte[] all) {
    return part.length <= all.length && Arrays.equals(part, Arrays.copyOf(all, part.length));
  }

  /** All is given back once the callers are gone. */
  private void end(List<String> faults) {
    if (recursion != null) {
      faults.add("a method calls itself for each request that waits: " + recursion);
    }
    tell("all callers are gone");
    callers.forEach(one -> one.peer.reset());
    settle();
    if (rules != Rules.FALL_BACK) {
      countedOut(faults);
    }
    if (held.total() != 0 || unread.total() != 0) {
      faults.add(held.total() + " bytes are held, " + unread.total() + " unread");
    }
    for (int i = 0; i < STEPS_UNTIL_CLOSED && !network.open().isEmpty(); i++) {
      network.advance(STEP);
      settle();
    }
    if (rules == Rules.FALL_BACK) {
      // A start that callers fell back from is requested for a while.
      network.advance(START_KEPT);
      settle();
      countedOut(faults);
    }
    if (!network.open().isEmpty()) {
      faults.add("connections that are never idle: " + network.open().stream()
          .map(peer -> peer.address().toString()).collect(Collectors.joining(", ")));
    } else if (network.usedMemory() != 0) {
      faults.add(network.usedMemory() + " bytes of buffers were not released");
    }
  }

  private void countedOut(List<String> faults) {
    if (!counted.isEmpty() || !open.isEmpty()) {
      faults.add(counted + " were not counted out, " + open.size() + " have not ended");
    }
    for (var id : revisions.ids()) {
      var view = throttler.view(id);
      if (view == null || view.inFlight() != 0 || view.queued() != 0) {
        faults.add("not given back: " + view);
      }
    }
  }

  private final class Counter extends RequestCounts {
    @Override
    public void arrived(RevisionId id) {
      if (rules == Rules.DO_NOT_WAKE) {
        throw new AssertionError("counted, though it wakes nothing");
      }
      counted.merge(id, 1, Integer::sum);
    }

    @Override
    public void left(RevisionId id) {
      int before = counted.getOrDefault(id, 0);
      if (before == 0) {
        throw new AssertionError("counted out twice");
      }
      counted.compute(id, (_, _) -> before == 1 ? null : before - 1);
      var deepest = STACK.walk(frames -> frames
          .filter(frame -> frame.getClassName().startsWith("dev.activator."))
          .collect(Collectors.groupingBy(frame -> frame.getClassName() + "." + frame.getMethodName()
              + ":" + frame.getLineNumber(), Collectors.counting())))
          .entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
      if (deepest.getValue() > MAX_DEPTH) {
        recursion = deepest.toString();
      }
    }
  }

  private final class Observer implements RequestObserver {
    @Override
    public void saw(Step step, RequestTimeline request) {
      if (step == Step.ARRIVED) {
        open.put(request, true);
      } else if (step == Step.ENDED && open.remove(request) == null) {
        throw new AssertionError("a request has ended twice");
      }
    }
  }
}
