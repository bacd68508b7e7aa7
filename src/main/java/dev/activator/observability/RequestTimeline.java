package dev.activator.observability;

import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A request with its steps and their times, as {@link RequestObserver}s read it. Only the request
 * path, which extends it, records steps; nothing is decided here.
 *
 * <p><b>Threads.</b> Confined to the request's event loop.
 *
 * <p><b>Units.</b> Nanoseconds of the loop's clock. A step that took no time, such as a permit
 * granted at once, has the time of the step before.
 */
public abstract class RequestTimeline {
  /** The start that the request waits for; null if it waits for none. */
  public static final Attribute<ColdStarts.AwaitedStart> AWAITED = new Attribute<>();
  /** The start that the request has waited for. */
  public static final Attribute<PodStart> START = new Attribute<>();
  private static final Object[] NONE = {};

  /** How far the request has come; that of one that has ended is where it was then. */
  private enum Stage {
    ARRIVED,
    QUEUED,
    /** It has a permit. */
    RUNNING
  }

  // The state of observers that see each request.
  @Nullable RevisionMeters meters;
  int thread;
  @Nullable RequestTrace trace;
  /** The state of other observers, by the index of its {@link Attribute}. */
  private @Nullable Object[] attributes = NONE;

  private final long arrivedNanos;
  private Stage stage = Stage.ARRIVED;
  private boolean waited;
  private int retries;
  private long grantedNanos;
  private long connectedNanos;
  private @Nullable Destination pod;
  private @Nullable Destination destination;
  private int responseStatus;
  private long respondedNanos;
  private long endedNanos;
  private long requestBytes;
  private long responseBytes;
  private boolean timed;
  private int status;
  private @Nullable RequestOutcome outcome;
  private @Nullable String failure;

  /**
   * A key of an observer's own state in requests. The state takes memory only in requests that have
   * some.
   *
   * <p><b>Source.</b> {@code AttributeKey} in Netty.
   */
  public static final class Attribute<T> {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final int index = COUNT.getAndIncrement();

    /** Returns what was set; null if nothing was. */
    @SuppressWarnings("unchecked") // Only set() writes this place.
    public @Nullable T of(RequestTimeline request) {
      var all = request.attributes;
      return index < all.length ? (T) all[index] : null;
    }

    public void set(RequestTimeline request, @Nullable T value) {
      if (index >= request.attributes.length) {
        request.attributes = Arrays.copyOf(request.attributes, COUNT.get());
      }
      request.attributes[index] = value;
    }
  }

  protected RequestTimeline(long arrivedNanos) {
    this.arrivedNanos = arrivedNanos;
  }

  // The steps, in order.

  /** Notifies the observers. */
  protected abstract void saw(RequestObserver.Step step);

  protected void queued() {
    if (stage != Stage.QUEUED) {
      stage = Stage.QUEUED;
      waited = true;
      saw(RequestObserver.Step.QUEUED);
    }
  }

  /**
   * @param onPod null if a ClusterIP chooses the pod
   * @param address over TLS, it may have another port than the pod
   */
  protected void granted(@Nullable Destination onPod, Destination address) {
    grantedNanos = waited ? now() : arrivedNanos;
    connectedNanos = 0;
    stage = Stage.RUNNING;
    pod = onPod;
    destination = address;
    failed(null);
    saw(RequestObserver.Step.GRANTED);
  }

  /** Call only for a new connection. */
  protected void connected() {
    connectedNanos = now();
  }

  /** Nothing was sent, and the request will be queued again. */
  protected void undelivered(String kind) {
    retries++;
    failed(kind);
    saw(RequestObserver.Step.UNDELIVERED);
  }

  /** @param kind a few words without an address; null before a new attempt */
  protected void failed(@Nullable String kind) {
    failure = kind;
  }

  protected void read(int bodyBytes) {
    requestBytes += bodyBytes;
  }

  protected void responding(int podStatus) {
    responseStatus = podStatus;
    respondedNanos = timed || waited ? now() : 0;
    saw(RequestObserver.Step.RESPONDING);
  }

  protected void wrote(int bodyBytes) {
    responseBytes += bodyBytes;
  }

  /** @param as the status to record: the response's if it is complete, else one for the outcome */
  protected void ended(RequestOutcome how, int as) {
    outcome = how;
    status = as;
    endedNanos = now();
    saw(RequestObserver.Step.ENDED);
  }

  // What observers read.

  public abstract long now();

  public abstract String method();

  /** The target as in the request line. */
  public abstract String target();

  /** The path and the query. */
  public abstract String path();

  /** The host, with the port if one is given; may be empty. */
  public abstract String host();

  /** The protocol, such as {@code HTTP/1.1}; {@code TCP} for a connection that is not HTTP. */
  public abstract String protocol();

  public abstract boolean secure();

  /** Whether the pod gets the request in HTTP/2. */
  public abstract boolean podInHttp2();

  /** Whether the pod is reached over TLS. */
  public abstract boolean podSecure();

  public abstract String peer();

  public abstract int peerPort();

  /** The first value of a header, as sent to the pod. */
  public abstract @Nullable String header(String name);

  public abstract List<String> headers(String name);

  /**
   * Sets a header of the request. Call until {@link RequestObserver.Step#FORWARDING}; later it
   * changes nothing.
   */
  public abstract void setHeader(String name, String value);

  /**
   * Adds a header to the pod's response, beside those of this name that it has. Call at
   * {@link RequestObserver.Step#RESPONDING}; it has no effect on a connection over TCP.
   *
   * @throws IllegalStateException at another step
   */
  public abstract void addResponseHeader(String name, String value);

  /** The values of a header of the pod's response; empty but at {@link RequestObserver.Step#RESPONDING}. */
  public abstract List<String> responseHeaders(String name);

  /** The spec of {@link #routed} when the request came; null if there is no such revision. */
  public abstract @Nullable Revision revision();

  /** The revision that the request was first sent to; null if there is none. */
  public abstract @Nullable LiveRevision routed();

  /** The revision that gets the request; after a fallback it is another one than {@link #routed}. */
  public @Nullable LiveRevision serving() {
    return routed();
  }

  /** Whether the request may wait for a pod. False if a rule of its revision forbids it. */
  public boolean mayWait() {
    return true;
  }

  /** Whether another revision has got the request. */
  public boolean hasFallenBack() {
    return false;
  }

  public final long arrivedNanos() {
    return arrivedNanos;
  }

  public final long grantedNanos() {
    return grantedNanos;
  }

  /** Null if the request is not traced. */
  public final @Nullable RequestTrace trace() {
    return trace;
  }

  /** Call at {@link RequestObserver.Step#ARRIVED}. */
  public final void traceWith(RequestTrace begun) {
    trace = begun;
  }

  /** Lets {@link #respondedNanos} be measured. */
  public final void time() {
    timed = true;
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
    var start = START.of(this);
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

  /** How often the request was undelivered and queued again. */
  public final int retries() {
    return retries;
  }

  /** Whether the request is queued, or was when it ended. */
  public final boolean isQueued() {
    return stage == Stage.QUEUED;
  }

  /** Whether the request has a permit, or had one when it ended. */
  public final boolean isRunning() {
    return stage == Stage.RUNNING;
  }

  /** Whether the request was ever queued. */
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

  /**
   * The pod as its permit names it; over TLS, {@link #destination} has another port. Null before there
   * is one, and if a ClusterIP chooses it.
   */
  public final @Nullable Destination pod() {
    return pod;
  }

  /** Null before the end. */
  public final @Nullable RequestOutcome outcome() {
    return outcome;
  }

  /** Why the last attempt failed, in a few words without an address. */
  public final @Nullable String failure() {
    return failure;
  }

  /** The trace of a request, as metrics and the request log name it. */
  public interface RequestTrace {
    String traceId();

    String spanId();

    /** Whether this trace may be an exemplar of metrics. */
    boolean isExemplar();

    /**
     * A time in milliseconds since 1970.
     *
     * @param nanos of the loop's clock
     */
    long epochMillis(long nanos);
  }
}
