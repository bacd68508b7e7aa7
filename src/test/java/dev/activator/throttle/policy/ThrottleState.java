package dev.activator.throttle.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.throttle.policy.ThrottleEffect.Granted;
import dev.activator.throttle.policy.ThrottleEffect.Reason;
import dev.activator.throttle.policy.ThrottleEffect.Refused;
import dev.activator.throttle.policy.ThrottleEvent.Abandoned;
import dev.activator.throttle.policy.ThrottleEvent.Arrived;
import dev.activator.throttle.policy.ThrottleEvent.Broken;
import dev.activator.throttle.policy.ThrottleEvent.GaveUp;
import dev.activator.throttle.policy.ThrottleEvent.Gone;
import dev.activator.throttle.policy.ThrottleEvent.Passed;
import dev.activator.throttle.policy.ThrottleEvent.Released;
import dev.activator.throttle.policy.ThrottleEvent.SubsetChanged;
import dev.activator.throttle.policy.ThrottleEvent.StartFailed;
import dev.activator.throttle.policy.ThrottleEvent.Undelivered;
import dev.activator.throttle.policy.Waiting.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * Who runs and who waits, of one revision: the rules in their plainest form. The mechanism shares
 * its permits between threads and so is built otherwise; its tests hold it to this.
 *
 * <p>In every state: a queue that is not empty means there is no room.
 */
public sealed interface ThrottleState {
  /** Nobody runs, nobody waits, and there is nowhere to go. */
  static ThrottleState initial(int queueBound, long nowNanos) {
    return new Open(nowNanos, queueBound, DestinationSubset.NONE, Ways.NONE,
        Balancer.FIRST_AVAILABLE, 0,
        Map.of(),
        Waiting.NOBODY, Map.of());
  }

  /** What holds next, and what is now to be done, in this order. */
  record Step(ThrottleState next, List<ThrottleEffect> effects) {
    private Step and(ThrottleEffect... first) {
      var all = new ArrayList<>(List.of(first));
      all.addAll(effects);
      return new Step(next, List.copyOf(all));
    }
  }

  /** A state and what happens in it. */
  record Cell(ThrottleState state, ThrottleEvent event) {}

  /** The transition table, a line a cell. */
  default Step on(ThrottleEvent event, RandomGenerator random) {
    return switch (new Cell(this, event)) {
      case Cell(Open o, Passed(var time)) -> step(o.later(time));
      case Cell(Open o, Arrived(var waiter)) -> o.admit(waiter, random);
      case Cell(Open o, Released(var waiter, var destination)) ->
        o.served(waiter).release(destination).grant(random);
      case Cell(Open o, Abandoned(var waiter, var destination)) ->
        o.abandoned(waiter).release(destination).grant(random);
      case Cell(Open o, Broken(var destination)) -> o.release(destination).grant(random);
      case Cell(Open o, Undelivered(var waiter, var destination)) ->
        o.release(destination).again(waiter, destination).grant(random);
      case Cell(Open o, GaveUp(var waiter)) -> step(o.giveUp(waiter));
      case Cell(Open o, SubsetChanged(var subset, var behind, var balancer)) ->
        o.setSubset(subset, behind, balancer).grant(random);
      // Where something runs the queue moves on: a pod that fails beside it is no reason to refuse.
      case Cell(Open o, StartFailed()) when o.subset.capacity() > 0 -> step(o);
      case Cell(Open o, StartFailed()) ->
        step(o.with(o.waiting.none()), o.refuse(Reason.CANNOT_START));
      case Cell(Open o, Gone()) -> step(new Closed(), o.refuse(Reason.GONE));
      case Cell(Closed c, Arrived(var waiter)) ->
        step(c, List.of(new Refused(waiter, Reason.GONE)));
      case Cell(Closed c, Undelivered(var waiter, _)) ->
        step(c, List.of(new Refused(waiter, Reason.GONE)));
      case Cell(Closed c, ThrottleEvent late) -> step(c);
    };
  }

  /**
   * The revision exists.
   *
   * @param nowNanos the time
   * @param queueBound how many may wait
   * @param subset where requests may go
   * @param ways which ways lead to the same pods
   * @param balancer how they are spread
   * @param cursor where the balancer starts to look
   * @param inFlight what runs where, destinations that are no longer listed included; no zeroes
   * @param waiting who waits
   * @param turns when each that had waited came and got its turn
   */
  record Open(long nowNanos, int queueBound, DestinationSubset subset, Ways ways, Balancer balancer,
      int cursor,
      Map<Destination, Integer> inFlight, Waiting waiting, Map<Long, Turn> turns)
      implements ThrottleState {

    private Step admit(long waiter, RandomGenerator random) {
      if (waiting.isEmpty()) {
        var granted = with(waiting.plus(new Waiter(waiter, nowNanos))).grant(random);
        if (!granted.effects().isEmpty() || queueBound > 0) {
          return granted;
        }
      }
      return waiting.size() >= queueBound
          ? step(this, List.of(new Refused(waiter, Reason.QUEUE_FULL)))
          : step(with(waiting.plus(new Waiter(waiter, nowNanos))));
    }

    private Open later(Duration time) {
      return new Open(nowNanos + time.toNanos(), queueBound, subset, ways, balancer, cursor,
          inFlight, waiting, turns);
    }

    private Open giveUp(long number) {
      var waiter = waiting.all().stream().filter(one -> one.number() == number).findFirst();
      if (waiter.isEmpty()) {
        return this;
      }
      long waited = nowNanos - waiter.get().sinceNanos();
      var order = waiting.order();
      if (!waiting.isReturned(waiter.get())) {
        order = subset.capacity() == 0
            ? order.leftDuringStart(waited)
            : order.left(waited, 0, nowNanos);
      }
      return with(waiting.minus(waiter.get()).ordered(order));
    }

    private Open served(long number) {
      var turn = turns.get(number);
      return turn == null
          ? this
          : with(waiting.ordered(waiting.order().served(turn.waited(), nowNanos - turn.nanos())));
    }

    private Open abandoned(long number) {
      var turn = turns.get(number);
      return turn == null
          ? this
          : with(waiting.ordered(
              waiting.order().left(turn.waited(), nowNanos - turn.nanos(), nowNanos)));
    }

    /** The head of the queue runs, as long as there is room. */
    private Step grant(RandomGenerator random) {
      return carry().grantHead(random);
    }

    private Step grantHead(RandomGenerator random) {
      int position = waiting.isEmpty() ? Balancer.NONE : balancer.pick(loads(), cursor, random);
      if (position == Balancer.NONE) {
        return step(this);
      }
      var destination = subset.destinations().get(position);
      var ordered = waiting.ordered(waiting.order().at(nowNanos));
      var head = ordered.next(nowNanos);
      var turned = new TreeMap<>(turns);
      if (waiting.isReturned(head)) {
        turned.remove(head.number());
      } else {
        turned.put(head.number(), new Turn(nowNanos - head.sinceNanos(), nowNanos));
      }
      var next = new Open(nowNanos, queueBound, subset, ways, balancer,
          balancer.cursorAfter(position, cursor),
          counted(destination, 1), ordered.minus(head), turned);
      return next.grant(random).and(new Granted(head.number(), destination));
    }

    private Open release(Destination destination) {
      if (!inFlight.containsKey(destination)) {
        throw new IllegalStateException("nothing runs on " + destination);
      }
      return new Open(nowNanos, queueBound, subset, ways, balancer, cursor,
          counted(destination, -1), waiting, turns);
    }

    /** Until the next route nothing goes there. */
    private Open again(long waiter, Destination unreachable) {
      return new Open(nowNanos, queueBound, subset.without(Set.of(unreachable)), ways, balancer,
          cursor, inFlight, waiting.plusReturned(new Waiter(waiter, nowNanos)), turns);
    }

    private Open setSubset(DestinationSubset now, DestinationSet behind, Balancer by) {
      return new Open(nowNanos, queueBound, now, ways.next(now, behind), by, cursor, inFlight,
          waiting, turns);
    }

    private Open with(Waiting now) {
      return new Open(nowNanos, queueBound, subset, ways, balancer, cursor, inFlight, now, turns);
    }

    private List<ThrottleEffect> refuse(Reason reason) {
      return waiting.all().stream()
          .<ThrottleEffect>map(waiter -> new Refused(waiter.number(), reason)).toList();
    }

    private Map<Destination, Integer> counted(Destination destination, int more) {
      var counts = new TreeMap<>(inFlight);
      counts.merge(destination, more, Integer::sum);
      counts.values().removeIf(count -> count == 0);
      return counts;
    }

    private int own(int position) {
      return inFlight.getOrDefault(subset.destinations().get(position), 0);
    }

    /** What runs by another way counts here, too. */
    private Open carry() {
      int elsewhere = inFlight.entrySet().stream()
          .filter(each -> !subset.destinations().contains(each.getKey())
              && ways.leadToTheSamePods(each.getKey()))
          .mapToInt(Map.Entry::getValue).sum();
      int size = subset.destinations().size();
      var dealt = InFlightCarryOver.deal(elsewhere,
          IntStream.range(0, size).map(this::carried).toArray(),
          IntStream.range(0, size).map(this::own).toArray(), subset.limit());
      var carried = new TreeMap<Destination, Integer>();
      IntStream.range(0, size).forEach(i -> carried.put(subset.destinations().get(i), dealt[i]));
      return new Open(nowNanos, queueBound, subset,
          new Ways(ways.clusterIps, ways.behind, carried), balancer, cursor, inFlight, waiting,
          turns);
    }

    private int carried(int position) {
      return ways.carried.getOrDefault(subset.destinations().get(position), 0);
    }

    private Balancer.Loads loads() {
      return new Balancer.Loads() {
        @Override
        public int size() {
          return subset.destinations().size();
        }

        @Override
        public int inFlight(int position) {
          return own(position) + carried(position);
        }

        @Override
        public boolean hasRoom(int position) {
          return inFlight(position) < subset.limit();
        }
      };
    }
  }

  /**
   * The turn of one that had waited.
   *
   * @param waited how long, in nanoseconds
   * @param nanos when it was
   */
  record Turn(long waited, long nanos) {}

  /**
   * Which destinations lead to the same pods as those of now.
   *
   * @param clusterIps all that there were
   * @param behind the pods behind the one of now; none where pods are addressed
   * @param carried how many requests that run by another way count against each of now
   */
  record Ways(DestinationSet clusterIps, DestinationSet behind, Map<Destination, Integer> carried) {
    static final Ways NONE = new Ways(DestinationSet.NONE, DestinationSet.NONE, Map.of());

    Ways next(DestinationSubset now, DestinationSet nowBehind) {
      return new Ways(nowBehind.isEmpty()
          ? clusterIps
          : clusterIps.plus(DestinationSet.of(now.destinations())), nowBehind, carried);
    }

    boolean leadToTheSamePods(Destination destination) {
      return clusterIps.contains(destination) || behind.contains(destination);
    }
  }

  /** The revision was deleted. What runs ends in its own time and is not counted any more. */
  record Closed() implements ThrottleState {}

  private static Step step(ThrottleState next) {
    return new Step(next, List.of());
  }

  private static Step step(ThrottleState next, List<ThrottleEffect> effects) {
    return new Step(next, effects);
  }
}
