package dev.activator.ext.lending.link;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.throttle.PeerSnapshot.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What this activator knows of a peer: an activator, or a former one whose link was lost and that
 * may still have requests. An event leads to the next state, and to what {@link PeerNetwork} has to
 * do. If both sides dial, the link that the smaller address has opened stays.
 *
 * @param isLarger whether the peer's address is larger than the own one, so that this side dials
 * @param isListed whether public Endpoints have the address
 * @param dialedNanos when the attempt that is not over began; null if there is none
 * @param refusedNanos when the first of the last attempts ended that were all refused; null if the
 *     last one was not
 */
record PeerState(boolean isLarger, boolean isListed, boolean waitsForKey,
    @Nullable Long dialedNanos, @Nullable Long refusedNanos, Status status, @Nullable Link link,
    @Nullable Lost lost) {
  /** How long the side with the larger address waits before it dials. */
  static final Duration TURN = Duration.ofSeconds(3);
  /**
   * How long a peer that was never linked must refuse connections until it counts as an activator
   * without links. Before that, its container may be restarting, and is still listed.
   */
  static final Duration RESTART = Duration.ofSeconds(5);
  /**
   * The time after a lost link before which a refused connection does not prove that the process
   * has ended.
   */
  static final Duration REFUSED = Duration.ofSeconds(15);
  /**
   * The same for a process that is no longer listed, and whose link it closed. By then a pod has
   * noticed that the connections of the process are closed, and has ended its requests.
   */
  static final Duration REFUSED_UNLISTED = Duration.ofSeconds(1);
  /** How long a lost peer is dialled that is no longer listed. */
  static final Duration LOST = Duration.ofMinutes(11);
  private static final Status NOT_TRIED = new Status(State.UNREACHABLE, "not tried yet", false);

  /** @param problem why it is not linked; empty if it is */
  record Status(State state, String problem, boolean wasLinked) {}

  /** @param isDialed whether this side opened it */
  record Link(PeerId process, boolean isDialed) {}

  /**
   * A process whose link was lost, and that is not known to have ended.
   *
   * @param mayHaveEnded see {@link PeerLink#mayHaveEnded}
   */
  record Lost(PeerId process, long sinceNanos, boolean mayHaveEnded) {}

  sealed interface Event {
    record Listed() implements Event {}

    /** Its link stays open, so that permits can be returned. */
    record Unlisted() implements Event {}

    record DialDue(boolean hasKey) implements Event {}

    /** @param problem empty if the key was read */
    record KeyRead(String problem) implements Event {}

    /** A link replaces another one. */
    record Linked(Link link) implements Event {}

    /** @param hasKey whether the key was read when it was last requested */
    record AttemptFailed(State why, String problem, boolean hasKey) implements Event {}

    record LinkClosed(String problem, boolean saidBye, boolean mayHaveEnded) implements Event {}
  }

  sealed interface Action {
    /** @param limitNanos the maximum of the pause */
    record Redial(Pause pause, long limitNanos) implements Action {}

    record Connected(PeerId process) implements Action {}

    record Disconnected(PeerId process) implements Action {}

    /** The process is known to have ended. */
    record Ended(PeerId process) implements Action {}

    /** The peer has no link for another reason than before. */
    record NotLinked(State why, String problem) implements Action {}

    enum Call implements Action {
      DIAL,
      READ_KEY,
      /** The Secret may contain another key by now. */
      FORGET_KEY,
      /** The peer is over: end its attempt, and forget it. */
      FORGET
    }
  }

  enum Pause {
    NONE,
    TURN,
    BACKOFF,
    /** Until an activator without links is tried again. */
    LEGACY,
    /** Until the key is read again after a failure. */
    NO_KEY
  }

  /** @param actions in order */
  record Step(PeerState state, List<Action> actions) {}

  static PeerState initial(boolean isLarger) {
    return new PeerState(isLarger, false, false, null, null, NOT_TRIED, null, null);
  }

  Step on(Event event, long now) {
    return switch (event) {
      case Event.Listed() -> listed(true).step(
          link == null ? List.of(redial(isLarger ? Pause.NONE : Pause.TURN)) : List.of());
      case Event.Unlisted() -> listed(false).orForget(
          lost == null ? List.of() : List.of(redial(Pause.NONE)), now);
      case Event.DialDue(var hasKey) -> dialDue(hasKey, now);
      case Event.KeyRead(var problem) -> !waitsForKey
          ? step(List.of())
          : problem.isEmpty()
              ? with(false, dialedNanos).dialDue(true, now)
              : with(false, dialedNanos).failed(State.UNAUTHORISED, problem, false, now);
      case Event.Linked(var to) -> linked(to);
      case Event.AttemptFailed(var why, var problem, var hasKey) ->
        with(waitsForKey, null).failed(why, problem, hasKey, now);
      case Event.LinkClosed(var problem, var saidBye, var mayHaveEnded) ->
        linkClosed(problem, saidBye, mayHaveEnded, now);
    };
  }

  private PeerState listed(boolean now) {
    return new PeerState(isLarger, now, waitsForKey, dialedNanos, refusedNanos, status, link, lost);
  }

  private PeerState with(boolean waits, @Nullable Long dialed) {
    return new PeerState(isLarger, isListed, waits, dialed, refusedNanos, status, link, lost);
  }

  private PeerState refusedSince(@Nullable Long since) {
    return new PeerState(isLarger, isListed, waitsForKey, dialedNanos, since, status, link, lost);
  }

  private PeerState unlinked(State why, String problem, @Nullable Lost process) {
    return new PeerState(isLarger, isListed, waitsForKey, dialedNanos, refusedNanos,
        new Status(why, problem, status.wasLinked), null, process);
  }

  private static Action redial(Pause pause) {
    return new Action.Redial(pause, Long.MAX_VALUE);
  }

  private Step step(List<Action> actions) {
    return new Step(this, actions);
  }

  /** Adds {@link Action.Call#FORGET} if the peer is over. */
  private Step orForget(List<Action> actions, long now) {
    if (!isOver(now)) {
      return step(actions);
    }
    var all = new ArrayList<>(actions);
    all.add(Action.Call.FORGET);
    return step(all);
  }

  private boolean isOver(long now) {
    return !isListed && link == null
        && (lost == null || now - lost.sinceNanos > LOST.toNanos());
  }

  private Step dialDue(boolean hasKey, long now) {
    if (isOver(now)) {
      return step(List.of(Action.Call.FORGET));
    }
    if (link != null || dialedNanos != null) {
      return step(List.of());
    }
    return hasKey
        ? with(waitsForKey, now).step(List.of(Action.Call.DIAL))
        : with(true, null).step(List.of(Action.Call.READ_KEY));
  }

  /**
   * Whether to refuse a connection from this process in favour of another one. If two connections
   * lead to the same process, both sides keep the one that the side with the smaller address
   * opened. If that side opened both, they keep the newer one.
   */
  boolean prefersAnother(Link to, long now) {
    if (to.isDialed == isLarger) {
      return false;
    }
    if (link == null) {
      // A firewall may have dropped the packets of an older attempt, which must not keep the other
      // side out.
      return dialedNanos != null && !to.isDialed && now - dialedNanos < TURN.toNanos();
    }
    return link.process.equals(to.process) && link.isDialed != to.isDialed;
  }

  private Step linked(Link to) {
    var actions = new ArrayList<Action>();
    var former = lost == null ? null : lost.process;
    if (link != null) {
      former = link.process;
      actions.add(new Action.Disconnected(former));
    }
    if (former != null && !former.equals(to.process)) {
      actions.add(new Action.Ended(former));
    }
    actions.add(new Action.Connected(to.process));
    return new PeerState(isLarger, isListed, waitsForKey, to.isDialed ? null : dialedNanos, null,
        new Status(State.LINKED, "", true), to, null).step(actions);
  }

  private Step linkClosed(String problem, boolean saidBye, boolean mayHaveEnded, long now) {
    var process = Objects.requireNonNull(link).process;
    var actions = new ArrayList<Action>();
    actions.add(new Action.Disconnected(process));
    if (saidBye) {
      actions.add(new Action.Ended(process));
    }
    actions.add(redial(Pause.BACKOFF));
    return unlinked(State.UNREACHABLE, problem,
        saidBye ? null : new Lost(process, now, mayHaveEnded)).orForget(actions, now);
  }

  /** How long after the loss a refused connection proves that the process has ended. */
  private Duration proof(Lost process) {
    return process.mayHaveEnded && !isListed ? REFUSED_UNLISTED : REFUSED;
  }

  private Step failed(State why, String problem, boolean hasKey, long now) {
    if (link != null) {
      return step(List.of());
    }
    var actions = new ArrayList<Action>();
    boolean isRefused = why == State.LEGACY;
    long left = lost == null ? 0 : lost.sinceNanos + proof(lost).toNanos() - now;
    var stillLost = lost;
    if (lost != null && isRefused && left <= 0) {
      // A process stops listening as its last step, so it has ended.
      stillLost = null;
      actions.add(new Action.Ended(lost.process));
    }
    var since = !isRefused ? null : refusedNanos == null ? Long.valueOf(now) : refusedNanos;
    long restarting = since == null ? 0 : since + RESTART.toNanos() - now;
    // A process that was linked has ended. While its address is listed, the next process is
    // expected there.
    var state = isRefused && (status.wasLinked || restarting > 0) ? State.UNREACHABLE : why;
    if (state != status.state || status.equals(NOT_TRIED)) {
      actions.add(new Action.NotLinked(state, problem));
    }
    if (state == State.UNAUTHORISED) {
      actions.add(Action.Call.FORGET_KEY);
    }
    actions.add(switch (state) {
      case LEGACY -> redial(Pause.LEGACY);
      case UNAUTHORISED -> redial(hasKey ? Pause.BACKOFF : Pause.NO_KEY);
      // Redials no later than when a refused connection proves that the process has ended, or lends
      // nothing.
      default -> new Action.Redial(Pause.BACKOFF,
          stillLost != null && left > 0
              ? left
              : restarting > 0 && !status.wasLinked ? restarting : Long.MAX_VALUE);
    });
    return refusedSince(since).unlinked(state, problem, stillLost).orForget(actions, now);
  }
}
