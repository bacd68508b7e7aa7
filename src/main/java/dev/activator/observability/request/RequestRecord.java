package dev.activator.observability.request;

import dev.activator.observability.log.Template;
import dev.activator.observability.request.RequestObserver.Step;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One request: what is known of it, and when it took which step. The request path writes it, and the
 * observer is told each step.
 *
 * <p>
 * <b>Threads.</b> The request's event loop.
 *
 * <p>
 * <b>Units.</b> Points in time are nanoseconds of the loop's clock. A step that took no time, such
 * as waiting for a permit that was there, is not measured: its point is the one before.
 */
public abstract class RequestRecord {
  private enum Stage {
    ARRIVED, QUEUED, RUNNING
  }

  private final RequestObserver observer;
  private final @Nullable Revision revision;
  private final long arrivedNanos;
  private long grantedNanos;
  /** 0 where the connection was open already. */
  private long connectedNanos;
  private long respondedNanos;
  private long endedNanos;
  private long requestBytes;
  private long responseBytes;
  private int responseStatus;
  private int status;
  private int retries;
  private Stage stage = Stage.ARRIVED;
  private boolean waited;
  private boolean responded;
  private boolean timed;
  private @Nullable Destination destination;
  private @Nullable Outcome outcome;
  private @Nullable String failure;

  // What observers keep of a request.
  @Nullable RevisionMeters meters;
  Tracing.@Nullable Spans spans;
  @Nullable Template line;
  Phases.@Nullable PodStart start;

  /** @param revision which is asked; null if there is none */
  protected RequestRecord(RequestObserver observer, @Nullable Revision revision,
      long arrivedNanos) {
    this.observer = observer;
    this.revision = revision;
    this.arrivedNanos = arrivedNanos;
  }

  /** The time now, by the loop's clock. */
  public abstract long now();

  public abstract String method();

  /** The target as the request line had it. */
  public abstract String target();

  /** Path and query. */
  public abstract String path();

  /** The host that was asked for, with its port if it has one; may be empty. */
  public abstract String host();

  /** {@code HTTP/1.1} or {@code HTTP/2.0}, for example. */
  public abstract String protocol();

  /** Whether it came over TLS. */
  public abstract boolean secure();

  /** Whether it goes to pods over TLS. */
  public abstract boolean podSecure();

  /** The caller's IP address. */
  public abstract String peer();

  public abstract int peerPort();

  /** The first header of this name, as it goes to the pod; null if there is none. */
  public abstract @Nullable String header(String name);

  /** All headers of this name, in order. */
  public abstract List<String> headers(String name);

  public abstract Set<String> headerNames();

  /** Changes a header, before it goes to the pod. */
  public abstract void header(String name, String value);

  public final @Nullable Revision revision() {
    return revision;
  }

  // The steps, in order.

  /** It is known what is asked. */
  public final void begin() {
    observer.saw(Step.ARRIVED, this);
  }

  public final void queued() {
    stage = Stage.QUEUED;
    waited = true;
    observer.saw(Step.QUEUED, this);
  }

  /** It has a permit for this address; over TLS that is another port than the pod's own. */
  public final void granted(Destination to) {
    grantedNanos = waited ? now() : arrivedNanos;
    connectedNanos = 0;
    stage = Stage.RUNNING;
    destination = to;
    failure = null;
    observer.saw(Step.GRANTED, this);
  }

  /** Its head is about to be sent, for the first time or to another destination. */
  public final void forwarding() {
    observer.saw(Step.FORWARDING, this);
  }

  /** A connection had to be made, and there is one now. */
  public final void connected() {
    connectedNanos = now();
  }

  /** Nothing could be sent; in a few words that name no address. */
  public final void undelivered(String kind) {
    retries++;
    failure = kind;
    observer.saw(Step.UNDELIVERED, this);
  }

  /** Has the time measured at which the response begins. */
  public final void time() {
    timed = true;
  }

  /** The response begins, with this status. */
  public final void responding(int with) {
    responded = true;
    responseStatus = with;
    respondedNanos = timed || waited ? now() : 0;
    observer.saw(Step.RESPONDING, this);
  }

  public final void read(int bodyBytes) {
    requestBytes += bodyBytes;
  }

  public final void wrote(int bodyBytes) {
    responseBytes += bodyBytes;
  }

  /** Why the destination did not answer, in a few words that name no address. */
  public final void failed(String kind) {
    failure = kind;
  }

  /**
   * It is over.
   *
   * @param as the status that says so; that of the response, if it is whole
   */
  public final void ended(Outcome how, int as) {
    outcome = how;
    status = as;
    endedNanos = now();
    observer.saw(Step.ENDED, this);
  }

  public final long arrivedNanos() {
    return arrivedNanos;
  }

  /** When it got its last permit; meaningless before. */
  public final long grantedNanos() {
    return grantedNanos;
  }

  /** When the response began; measured only if it waited, or {@link #time} was called. */
  public final long respondedNanos() {
    return respondedNanos;
  }

  /** When it ended; meaningless before. */
  public final long endedNanos() {
    return endedNanos;
  }

  /** How the time was spent until the response, or until the request was given up. */
  public final Phases phases() {
    long until = responded ? respondedNanos : endedNanos;
    long turn = isRunning() ? grantedNanos : until;
    long connected = isRunning()
        ? Math.min(connectedNanos == 0 ? grantedNanos : connectedNanos, until)
        : until;
    var waiting = start == null
        ? new Phases(0, 0, turn - arrivedNanos, 0, 0)
        : start.until(arrivedNanos, turn);
    return new Phases(waiting.pod(), waiting.probe(), waiting.queue(), connected - turn,
        until - connected);
  }

  /** Bytes of the request's body that came. */
  public final long requestBytes() {
    return requestBytes;
  }

  /** Bytes of the response's body that were written. */
  public final long responseBytes() {
    return responseBytes;
  }

  /** The status that the destination gave; 0 before that. */
  public final int responseStatus() {
    return responseStatus;
  }

  /** The status that the caller got, or that says why it got none; 0 before the end. */
  public final int status() {
    return status;
  }

  /** How often it could not be delivered. */
  public final int retries() {
    return retries;
  }

  /** Whether it waits for a permit. */
  public final boolean isQueued() {
    return stage == Stage.QUEUED;
  }

  /** Whether it has a permit, or had one when it ended. */
  public final boolean isRunning() {
    return stage == Stage.RUNNING;
  }

  /** Whether it ever waited for a permit. */
  public final boolean waited() {
    return waited;
  }

  /** Whether the destination's response has begun. */
  public final boolean responded() {
    return responded;
  }

  /** Where it was sent, the last time; null before it was granted. */
  public final @Nullable Destination destination() {
    return destination;
  }

  /** How it ended; null before. */
  public final @Nullable Outcome outcome() {
    return outcome;
  }

  /** Why the destination did not answer; null if it did. */
  public final @Nullable String failure() {
    return failure;
  }
}
