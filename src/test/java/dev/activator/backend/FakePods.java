package dev.activator.backend;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.revision.Destination;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Pods that answer probes as they are told to, a millisecond later; those that hang do so until the
 * timeout. Each answers {@code ok} unless told otherwise. Two probes of one pod at once are refused
 * loudly.
 */
final class FakePods implements Prober {
  static final ProbeOutcome OK = ProbeOutcome.of(200, "queue");
  static final ProbeOutcome REFUSED = ProbeOutcome.noAnswer("connection refused");
  static final ProbeOutcome HANGS = ProbeOutcome.noAnswer("no answer within 300 ms");
  private static final Duration ROUND_TRIP = Duration.ofMillis(1);
  private static final Duration TIMEOUT = Duration.ofMillis(300);

  /** A probe: of whom, and when it began. */
  record Asked(Destination pod, Duration at) {}

  private final VirtualLoop loop;
  private final Map<Destination, Supplier<ProbeOutcome>> behaviour = new HashMap<>();
  private final Map<Destination, Integer> underWay = new HashMap<>();
  private final List<Asked> asked = new ArrayList<>();

  FakePods(VirtualLoop loop) {
    this.loop = loop;
  }

  /** It answers so each time. */
  void answers(Destination pod, ProbeOutcome outcome) {
    behaviour.put(pod, () -> outcome);
  }

  /** It answers one after the other, and the last of them for ever. */
  void answers(Destination pod, List<ProbeOutcome> outcomes) {
    var left = new ArrayList<>(outcomes);
    behaviour.put(pod, () -> left.size() > 1 ? left.removeFirst() : left.getFirst());
  }

  /** Nothing listens there before that time. */
  void listensFrom(Destination pod, Duration start) {
    behaviour.put(pod, () -> loop.elapsed().compareTo(start) < 0 ? REFUSED : OK);
  }

  List<Asked> asked() {
    return asked;
  }

  List<Duration> asked(Destination pod) {
    return asked.stream().filter(one -> one.pod().equals(pod)).map(Asked::at).toList();
  }

  @Override
  public void probe(Destination pod, Consumer<ProbeOutcome> done) {
    if (underWay.merge(pod, 1, Integer::sum) > 1) {
      throw new AssertionError(pod + " is probed twice at once");
    }
    asked.add(new Asked(pod, loop.elapsed()));
    var outcome = behaviour.getOrDefault(pod, () -> OK).get();
    loop.schedule(outcome.equals(HANGS) ? TIMEOUT : ROUND_TRIP, () -> {
      underWay.remove(pod);
      done.accept(outcome);
    });
  }
}
