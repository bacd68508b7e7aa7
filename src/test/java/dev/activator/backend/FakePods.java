package dev.activator.backend;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Pods that answer probes as they are told to, a millisecond later; those that hang do so until the
 * timeout. Each answers {@code ok} unless told otherwise. Two probes of one pod at once are refused
 * loudly.
 */
class FakePods implements ProbeClient {
  static final ProbeResult OK = new ProbeResult.Answered(200, "queue");
  static final ProbeResult REFUSED = new ProbeResult.Refused("connection refused");
  static final ProbeResult HANGS = new ProbeResult.TimedOut(Duration.ofMillis(300), true);
  static final ProbeResult MESH = status(503);
  private static final Duration ROUND_TRIP = Duration.ofMillis(1);
  private static final Duration TIMEOUT = Duration.ofMillis(300);

  /** A probe: of which pod, and when it began. */
  record Asked(Destination pod, Duration at) {}

  private final VirtualLoop loop;
  private final Map<Destination, Supplier<ProbeResult>> behaviour = new HashMap<>();
  private final Map<Destination, Integer> inFlight = new HashMap<>();
  private final List<Asked> asked = new ArrayList<>();
  private final List<Optional<PodIdentity>> identities = new ArrayList<>();
  private final Map<Destination, Duration> ended = new HashMap<>();
  private boolean twiceAtOnce;

  FakePods(VirtualLoop loop) {
    this.loop = loop;
  }

  static ProbeResult status(int status) {
    return new ProbeResult.Answered(status, "");
  }

  /** A pod may be probed twice at once: a new watcher knows nothing of the probes of another. */
  void allowTwiceAtOnce() {
    twiceAtOnce = true;
  }

  /** It answers so each time. */
  void answers(Destination pod, ProbeResult answer) {
    behaviour.put(pod, () -> answer);
  }

  /** It answers one after the other, and the last of them for ever. */
  void answers(Destination pod, List<ProbeResult> answers) {
    var left = new ArrayList<>(answers);
    behaviour.put(pod, () -> left.size() > 1 ? left.removeFirst() : left.getFirst());
  }

  /** Nothing listens there before that time. */
  void listensFrom(Destination pod, Duration start) {
    behaviour.put(pod, () -> loop.elapsed().compareTo(start) < 0 ? REFUSED : OK);
  }

  boolean listens(Destination pod) {
    return !behaviour.getOrDefault(pod, () -> OK).get().equals(REFUSED);
  }

  List<Asked> asked() {
    return asked;
  }

  /** What the probed pods had to prove. */
  List<PodIdentity> identities() {
    return identities.stream().flatMap(Optional::stream).toList();
  }

  List<Duration> asked(Destination pod) {
    return asked.stream().filter(one -> one.pod().equals(pod)).map(Asked::at).toList();
  }

  /** Whether a probe of it that began then or later has ended. */
  boolean hasEndedSince(Destination pod, Duration start) {
    var last = ended.get(pod);
    return last != null && last.compareTo(start) >= 0;
  }

  @Override
  public void probe(Loop on, ProbeRequest request, Consumer<ProbeResult> done) {
    var pod = request.destination();
    if (inFlight.merge(pod, 1, Integer::sum) > 1 && !twiceAtOnce) {
      throw new AssertionError(pod + " is probed twice at once");
    }
    asked.add(new Asked(pod, loop.elapsed()));
    identities.add(Optional.ofNullable(request.target().identity()));
    var began = loop.elapsed();
    var answer = behaviour.getOrDefault(pod, () -> OK).get();
    on.schedule(answer.equals(HANGS) ? TIMEOUT : ROUND_TRIP, () -> {
      inFlight.computeIfPresent(pod, (_, count) -> count == 1 ? null : count - 1);
      ended.put(pod, began);
      done.accept(answer);
    });
  }
}
