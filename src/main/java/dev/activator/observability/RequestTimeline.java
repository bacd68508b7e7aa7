package dev.activator.observability;

import dev.activator.observability.RequestObserver.Step;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.template.GoTemplate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request with the time of each of its steps, for {@link RequestObserver}s.
 *
 * <p><b>Threads.</b> Confined to the request's event loop.
 *
 * <p><b>Units.</b> Nanoseconds of the loop's clock. A step that took no time, such as a permit
 * granted at once, has the time of the step before.
 */
public abstract class RequestTimeline {
  private enum Stage {
    ARRIVED,
    QUEUED,
    RUNNING
  }

  private final RequestObserver observer;
  private final @Nullable Revision revision;
  private final long arrivedNanos;
  private long grantedNanos;
  /** 0 if the connection was already open. */
  private long connectedNanos;
  private long respondedNanos;
  private long endedNanos;
  private long requestBytes;
  private long responseBytes;
  /** 0 before the response. */
  private int responseStatus;
  private int status;
  private int retries;
  private Stage stage = Stage.ARRIVED;
  private boolean waited;
  private boolean timed;
  private boolean fellBack;
  private @Nullable Destination destination;
  private @Nullable RequestOutcome outcome;
  private @Nullable String failure;

  // The state of observers.
  @Nullable RevisionMeters meters;
  int thread;
  RequestTracer.@Nullable Spans spans;
  @Nullable GoTemplate line;
  ColdStartRecorder.@Nullable AwaitedStart awaited;
  RequestPhases.@Nullable PodStart start;

  protected RequestTimeline(RequestObserver observer, @Nullable Revision revision,
      long arrivedNanos) {
    this.observer = observer;
    this.revision = revision;
    this.arrivedNanos = arrivedNanos;
  }

  public abstract long now();

  public abstract String method();

  /** The target as in the request line. */
  public abstract String target();

  /** The path and the query. */
  public abstract String path();

  /** The host, with the port if one is given; may be empty. */
  public abstract String host();

  /** The protocol, such as {@code HTTP/1.1}. */
  public abstract String protocol();

  public abstract boolean secure();

  /** Whether the pod is reached over TLS. */
  public abstract boolean podSecure();

  public abstract String peer();

  public abstract int peerPort();

  /** The first value of a header, as sent to the pod. */
  public abstract @Nullable String header(String name);

  public abstract List<String> headers(String name);

  public abstract void header(String name, String value);

  /** Whether the request may start a pod. False if a rule of its revision forbids it. */
  public boolean mayWake() {
    return true;
  }

  public final @Nullable Revision revision() {
    return revision;
  }

  // The steps, in order.

  public final void begin() {
    observer.saw(Step.ARRIVED, this);
  }

  public final void queued() {
    stage = Stage.QUEUED;
    waited = true;
    observer.saw(Step.QUEUED, this);
  }

  /**
   * @param to the address to which the request is sent; over TLS the port differs from that of the
   *     pod
   */
  public final void granted(Destination to) {
    grantedNanos = waited ? now() : arrivedNanos;
    connectedNanos = 0;
    stage = Stage.RUNNING;
    destination = to;
    failure = null;
    observer.saw(Step.GRANTED, this);
  }

  public final void forwarding() {
    observer.saw(Step.FORWARDING, this);
  }

  /**
   * Call when another revision gets the request. Its wait then no longer counts as a wait for a
   * start.
   */
  public final void fellBack() {
    fellBack = true;
    awaited = null;
  }

  public final boolean hasFallenBack() {
    return fellBack;
  }

  /** Call only for a new connection. */
  public final void connected() {
    connectedNanos = now();
  }

  /** @param kind a few words without an address */
  public final void undelivered(String kind) {
    retries++;
    failure = kind;
    observer.saw(Step.UNDELIVERED, this);
  }

  /** Lets {@link #respondedNanos} be measured. */
  public final void time() {
    timed = true;
  }

  public final void responding(int with) {
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

  /** @param kind a few words without an address */
  public final void failed(String kind) {
    failure = kind;
  }

  /** @param as the status to record: the response's if it is complete, else one for the outcome */
  public final void ended(RequestOutcome how, int as) {
    outcome = how;
    status = as;
    endedNanos = now();
    observer.saw(Step.ENDED, this);
  }

  public final long arrivedNanos() {
    return arrivedNanos;
  }

  public final long grantedNanos() {
    return grantedNanos;
  }

  /**
   * When the response began. Measured only if the request waited, or if {@link #time} was called.
   */
  public final long respondedNanos() {
    return respondedNanos;
  }

  public final long endedNanos() {
    return endedNanos;
  }

  public final RequestPhases phases() {
    long until = responded() ? respondedNanos : endedNanos;
    long turn = isRunning() ? grantedNanos : until;
    long connected = isRunning()
        ? Math.min(connectedNanos == 0 ? grantedNanos : connectedNanos, until)
        : until;
    var waiting = start == null
        ? new RequestPhases(0, 0, turn - arrivedNanos, 0, 0)
        : start.until(arrivedNanos, turn);
    return new RequestPhases(waiting.pod(), waiting.probe(), waiting.queue(), connected - turn,
        until - connected);
  }

  public final long requestBytes() {
    return requestBytes;
  }

  public final long responseBytes() {
    return responseBytes;
  }

  /** The status of the pod's response; 0 before the response. */
  public final int responseStatus() {
    return responseStatus;
  }

  /**
   * The status that the caller got, or one that stands for the reason why it got none; 0 before the
   * end.
   */
  public final int status() {
    return status;
  }

  public final int retries() {
    return retries;
  }

  public final boolean isQueued() {
    return stage == Stage.QUEUED;
  }

  /** Whether the request has a permit, or had one when it ended. */
  public final boolean isRunning() {
    return stage == Stage.RUNNING;
  }

  public final boolean waited() {
    return waited;
  }

  public final boolean responded() {
    return responseStatus > 0;
  }

  /** The last destination. */
  public final @Nullable Destination destination() {
    return destination;
  }

  public final @Nullable RequestOutcome outcome() {
    return outcome;
  }

  public final @Nullable String failure() {
    return failure;
  }
}
