package dev.activator.ext.tcp.policy;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one connection: it waits for a permit, is connected to a pod, and then passes bytes in
 * both directions until both sides have ended. As long as no byte has passed, a pod that fails is
 * replaced by another one.
 *
 * @param holds whether the client has sent bytes that are held for the pod
 * @param sent whether the pod has been sent a byte
 * @param received whether the pod has sent a byte
 * @param clientEnded whether the client has ended what it sends
 * @param podEnded whether the pod has ended what it sends
 * @param failures how many pods have failed before a byte passed
 * @param end null until the end
 */
public record TcpConnectionState(Phase phase, boolean holds, boolean sent, boolean received,
    boolean clientEnded, boolean podEnded, int failures, @Nullable End end) {
  /** The maximum number of further pods after one that could not be reached, as for requests. */
  static final int MAX_UNREACHED = 16;
  /** The maximum number of further pods after one that has accepted and failed, as for requests. */
  static final int MAX_FAILED = 5;

  public static final TcpConnectionState ACCEPTED = new TcpConnectionState(Phase.WAITING, false,
      false, false, false, false, 0, null);

  /** Where a connection is. */
  public enum Phase {
    /** For a permit. */
    WAITING,
    CONNECTING,
    /** The client and the pod are connected. */
    OPEN,
    ENDED
  }

  /** What happens to a connection. */
  public enum Event {
    /** The first bytes of the client have come before there is a pod to send them to. */
    HELD,
    GRANTED,
    REJECTED,
    WAITED_TOO_LONG,
    CONNECTED,
    NOT_CONNECTED,
    /** A failed pod cannot be replaced by another one. */
    NO_OTHER_POD,
    SENT,
    RECEIVED,
    CLIENT_ENDED,
    /** The client's connection was reset, or is otherwise gone. */
    CLIENT_GONE,
    POD_ENDED,
    POD_GONE,
    /** No byte has passed for so long that it is to be closed. */
    IDLE,
    /** The activator has failed. */
    ERROR
  }

  /** What is to be done. */
  public enum Action {
    DIAL,
    /** Joins the client and the pod, and sends what is held. */
    JOIN,
    TRY_ANOTHER_POD,
    /** Ends what the pod is sent. */
    END_TO_POD,
    /** Ends what the client is sent. */
    END_TO_CLIENT,
    /** Resets the client's connection when it has been sent everything. */
    RESET_CLIENT,
    /** Resets the pod's connection when it has been sent everything. */
    RESET_POD
  }

  /** How a connection has ended. */
  public enum End {
    /** Both sides have ended what they send. */
    CLOSED,
    /** The client has left before. */
    CLIENT_GONE,
    /** It has got no permit. */
    REJECTED,
    WAITED_TOO_LONG,
    /** The pod has failed. */
    POD_FAILED,
    /** No byte has passed for long. */
    IDLE,
    /** The activator has failed. */
    ERROR
  }

  /** The next state, and what is to be done, in this order. */
  public record Step(TcpConnectionState next, List<Action> actions) {
    public Step {
      actions = List.copyOf(actions);
    }
  }

  /** An event that cannot come in this phase, or comes late, changes nothing. */
  public Step on(Event event) {
    if (event == Event.ERROR && phase != Phase.ENDED) {
      return ended(End.ERROR);
    }
    return switch (phase) {
      case WAITING -> whileWaiting(event);
      case CONNECTING -> whileConnecting(event);
      case OPEN -> whileOpen(event);
      case ENDED -> step(this);
    };
  }

  private Step whileWaiting(Event event) {
    return switch (event) {
      case GRANTED -> step(in(Phase.CONNECTING), Action.DIAL);
      case REJECTED -> ended(End.REJECTED, Action.RESET_CLIENT);
      case WAITED_TOO_LONG -> ended(End.WAITED_TOO_LONG, Action.RESET_CLIENT);
      default -> withoutPod(event);
    };
  }

  private Step whileConnecting(Event event) {
    return switch (event) {
      // A pod may have something to say to a client that says nothing.
      case CLIENT_ENDED -> step(withClientEnded());
      case CONNECTED -> {
        var open = new TcpConnectionState(Phase.OPEN, false, holds, false, clientEnded, false,
            failures, null);
        yield clientEnded ? step(open, Action.JOIN, Action.END_TO_POD) : step(open, Action.JOIN);
      }
      case NOT_CONNECTED -> failed(MAX_UNREACHED);
      default -> withoutPod(event);
    };
  }

  private Step withoutPod(Event event) {
    return switch (event) {
      case NO_OTHER_POD -> ended(End.POD_FAILED, Action.RESET_CLIENT);
      case HELD -> step(new TcpConnectionState(phase, true, sent, received, clientEnded, podEnded,
          failures, null));
      // A client that sends something and ends may wait for an answer; one that has sent nothing has
      // left, or is a health check.
      case CLIENT_ENDED -> holds
          ? step(withClientEnded())
          : ended(End.CLIENT_GONE, Action.RESET_CLIENT);
      case CLIENT_GONE -> ended(End.CLIENT_GONE);
      default -> step(this);
    };
  }

  private Step whileOpen(Event event) {
    return switch (event) {
      case SENT -> step(new TcpConnectionState(phase, holds, true, received, clientEnded, podEnded,
          failures, null));
      case RECEIVED -> step(new TcpConnectionState(phase, holds, sent, true, clientEnded, podEnded,
          failures, null));
      case CLIENT_ENDED -> podEnded
          ? ended(End.CLOSED, Action.END_TO_POD)
          : step(withClientEnded(), Action.END_TO_POD);
      case CLIENT_GONE -> ended(End.CLIENT_GONE, Action.RESET_POD);
      case POD_ENDED -> podEnds();
      case POD_GONE -> sent || received
          ? ended(End.POD_FAILED, Action.RESET_CLIENT)
          : failed(MAX_FAILED);
      case IDLE -> ended(End.IDLE, Action.END_TO_CLIENT, Action.END_TO_POD);
      default -> step(this);
    };
  }

  private Step podEnds() {
    if (!sent && !received && !clientEnded) {
      return failed(MAX_FAILED);
    }
    return clientEnded
        ? ended(End.CLOSED, Action.END_TO_CLIENT)
        : step(new TcpConnectionState(phase, holds, sent, received, false, true, failures, null),
            Action.END_TO_CLIENT);
  }

  private Step failed(int max) {
    // One that has ended without a byte does not wait, neither for a pod nor for another one.
    return failures >= max || clientEnded && !holds
        ? ended(End.POD_FAILED, Action.RESET_CLIENT)
        : step(new TcpConnectionState(Phase.WAITING, holds, false, false, clientEnded, false,
            failures + 1, null), Action.TRY_ANOTHER_POD);
  }

  private TcpConnectionState in(Phase next) {
    return new TcpConnectionState(next, holds, sent, received, clientEnded, podEnded, failures,
        null);
  }

  private TcpConnectionState withClientEnded() {
    return new TcpConnectionState(phase, holds, sent, received, true, podEnded, failures, null);
  }

  private Step ended(End how, Action... actions) {
    return new Step(new TcpConnectionState(Phase.ENDED, holds, sent, received, clientEnded,
        podEnded, failures, how), List.of(actions));
  }

  private static Step step(TcpConnectionState next, Action... actions) {
    return new Step(next, List.of(actions));
  }
}
