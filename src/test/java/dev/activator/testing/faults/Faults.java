package dev.activator.testing.faults;

import dev.activator.embedded.api.cache.CacheWatcher;
import dev.activator.loop.Loop;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What goes wrong on purpose, and a record of all requests. As long as no rule is there, requests
 * are written down and nothing else.
 *
 * <p><b>Threads.</b> Any thread may call in. Rules are counted inside a lock, which a request takes
 * only while there are any; which request comes first is then decided, and the seed does the rest.
 *
 * <p><b>Units.</b> Time is the loop's.
 */
public final class Faults {
  private static final Logger log = LoggerFactory.getLogger(Faults.class);

  private final LongSupplier newest;
  private final long bornNanos;
  private final Journal journal = new Journal();
  private final ReentrantLock lock = new ReentrantLock();
  private final Random random = new Random(0);
  private final FaultClock clock;
  private final Set<OpenCall> open = ConcurrentHashMap.newKeySet();
  private final Set<UndoActions> afflicted = ConcurrentHashMap.newKeySet();
  private final UndoActions undoActions = new UndoActions();
  private volatile List<Rule> rules = List.of();

  /**
   * No faults yet.
   *
   * @param newest the revision of the newest write
   */
  public Faults(Loop loop, LongSupplier newest) {
    this.clock = new FaultClock(loop, random);
    this.newest = newest;
    this.bornNanos = loop.nanoTime();
  }

  /** Begins the random numbers anew, of rules with a chance and of pauses that vary. */
  public Faults seed(long seed) {
    random.setSeed(seed);
    return this;
  }

  /** From now on, such requests are hit. Those that several rules match are hit by them all. */
  public Rule add(Match match, Fault fault, Lifetime lifetime) {
    var rule = new Rule(match, fault, lifetime, this);
    locked(() -> {
      var more = new ArrayList<>(rules);
      more.add(rule);
      rules = List.copyOf(more);
    });
    return rule;
  }

  /** From now on, until the rule is removed. */
  public Rule add(Match match, Fault fault) {
    return add(match, fault, Lifetime.UNTIL_REMOVED);
  }

  /** The next such request, and no other after it. */
  public Rule once(Match match, Fault fault) {
    return add(match, fault, Lifetime.once());
  }

  /**
   * Hits such requests that are under way, and returns them. Whose turn it is does not matter. What
   * hits a connection has hit it by then; what hits a watch does so before any event that follows.
   */
  public List<Call> strike(Match match, Fault.OnOpen fault) {
    var hit = open.stream().filter(call -> match.fits(call.asked())).toList();
    for (var call : hit) {
      afflict(call);
      hit(call, fault);
      switch (fault) {
        case Fault.EndWatch end -> strike(call, end);
        case Fault.FailWatch failure -> strike(call, failure);
        case Fault.Reset reset -> call.line().armNow(reset);
        case Fault.HalfOpen halfOpen -> call.line().armNow(halfOpen);
      }
    }
    return hit.stream().map(OpenCall::call).toList();
  }

  /**
   * Removes all rules, and undoes what they hold: what waits goes on, what was to be never answered
   * is cut off.
   */
  public void heal() {
    locked(() -> rules = List.of());
    release();
  }

  /** Undoes what is held, and leaves the rules. */
  public void release() {
    undoActions.heal();
    undoActions.renew();
    afflicted.forEach(UndoActions::heal);
  }

  /** Waits until nothing is under way; false if that takes too long. */
  public boolean awaitQuiet(Duration timeout) {
    return journal.reached(open::isEmpty, timeout);
  }

  public Journal journal() {
    return journal;
  }

  long nanoTime() {
    return clock.loop().nanoTime();
  }

  FaultClock clock() {
    return clock;
  }

  long newest() {
    return newest.getAsLong();
  }

  /** What undoes a fault, should it be healed before it is over. */
  public Runnable remedy(Runnable remedy) {
    return undoActions.add(remedy);
  }

  /** The fault is over. */
  public void forget(Runnable remedy) {
    undoActions.forget(remedy);
  }

  OpenCall opened(Asked asked, Channel channel) {
    var call = new Call(asked, Duration.ofNanos(nanoTime() - bornNanos));
    var opened = new OpenCall(call, channel, clock);
    open.add(opened);
    journal.add(call);
    return opened;
  }

  void ended(OpenCall ended, Call.End end, int status) {
    open.remove(ended);
    ended.call().ended(end, status);
    journal.stir();
  }

  /** What hits this call, in order of the rules. */
  List<Fault> hits(OpenCall call) {
    if (rules.isEmpty()) {
      return List.of();
    }
    afflict(call);
    var hits = new ArrayList<Fault>();
    locked(() -> {
      long now = nanoTime();
      rules.stream().filter(rule -> rule.hits(call.asked(), random, now)).map(Rule::fault)
          .forEach(hits::add);
      rules = rules.stream().filter(rule -> !rule.over(now)).toList();
    });
    hits.forEach(fault -> hit(call, fault));
    return hits;
  }

  /** Where a watch's events go instead of to this outlet. */
  CacheWatcher.Outlet watched(OpenCall call, List<Fault> hits, CacheWatcher.Outlet outlet) {
    var faulty = new FaultyOutlet(outlet, clock, call.undoActions());
    hits.stream().filter(Fault.OnWatch.class::isInstance).map(Fault.OnWatch.class::cast)
        .forEach(faulty::arm);
    call.watches(faulty);
    return faulty;
  }

  void remove(Rule rule) {
    locked(() -> rules = rules.stream().filter(other -> other != rule).toList());
  }

  private void strike(OpenCall call, Fault.OnWatch fault) {
    var outlet = call.outlet();
    if (outlet != null) {
      clock.loop().execute(() -> outlet.strike(fault));
    }
  }

  /** From now on what is done to the call can be undone, even before it is done. */
  private void afflict(OpenCall call) {
    call.undoActions().renew();
    if (afflicted.add(call.undoActions())) {
      call.channel().closeFuture().addListener(_ -> afflicted.remove(call.undoActions()));
    }
  }

  private void hit(OpenCall call, Fault fault) {
    call.call().hitBy(fault);
    journal.stir();
    log.debug("{} hits {}", fault, call.asked());
  }

  private void locked(Runnable task) {
    lock.lock();
    try {
      task.run();
    } finally {
      lock.unlock();
    }
  }
}
