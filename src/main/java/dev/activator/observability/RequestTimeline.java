package dev.activator.observability;

import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import dev.activator.template.GoTemplate;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A request with the time of each of its steps, as {@link RequestObserver}s read it. The request
 * path owns the state; nothing is decided here. Unless overridden, it is a request that is refused
 * on arrival.
 *
 * <p><b>Threads.</b> Confined to the request's event loop.
 *
 * <p><b>Units.</b> Nanoseconds of the loop's clock. A step that took no time, such as a permit
 * granted at once, has the time of the step before.
 */
public abstract class RequestTimeline {
  /** The start that the request waits for; null if it waits for none. */
  public static final Attribute<ColdStarts.Awaited> AWAITED = new Attribute<>();
  /** The start that the request has waited for. */
  public static final Attribute<PodStart> START = new Attribute<>();
  private static final Object[] NONE = {};

  // The state of observers that see each request.
  @Nullable RevisionMeters meters;
  int thread;
  RequestTracer.@Nullable Spans spans;
  @Nullable GoTemplate line;
  /** The state of other observers, by the index of its {@link Attribute}. */
  private @Nullable Object[] attributes = NONE;

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

  /** Whether the pod gets the request in HTTP/2. */
  public abstract boolean podInHttp2();

  /** Whether the pod is reached over TLS. */
  public abstract boolean podSecure();

  public abstract String peer();

  public abstract int peerPort();

  /** The first value of a header, as sent to the pod. */
  public abstract @Nullable String header(String name);

  public abstract List<String> headers(String name);

  public abstract void header(String name, String value);

  /** The revision that the request was sent to, also after a fallback; null if there is none. */
  public abstract @Nullable Revision revision();

  /** What is kept for {@link #revision}; null if there is none. */
  public abstract @Nullable LiveRevision live();

  /** Whether the request may wait for a pod. False if a rule of its revision forbids it. */
  public boolean mayWait() {
    return true;
  }

  /** Whether another revision has got the request. */
  public boolean hasFallenBack() {
    return false;
  }

  public abstract long arrivedNanos();

  public long grantedNanos() {
    return 0;
  }

  /** When there was a new connection for the request; 0 if one was open. */
  public long connectedNanos() {
    return 0;
  }

  /** Lets {@link #respondedNanos} be measured. */
  public abstract void time();

  /**
   * When the response began. Measured only if the request waited, or if {@link #time} was called.
   */
  public long respondedNanos() {
    return 0;
  }

  public abstract long endedNanos();

  public final RequestPhases phases() {
    long until = responded() ? respondedNanos() : endedNanos();
    long turn = isRunning() ? grantedNanos() : until;
    long connected = isRunning()
        ? Math.min(connectedNanos() == 0 ? grantedNanos() : connectedNanos(), until)
        : until;
    var start = START.of(this);
    var waiting = start == null
        ? new RequestPhases(0, 0, turn - arrivedNanos(), 0, 0)
        : start.until(arrivedNanos(), turn);
    return new RequestPhases(waiting.pod(), waiting.probe(), waiting.queue(), connected - turn,
        until - connected);
  }

  public long requestBytes() {
    return 0;
  }

  public abstract long responseBytes();

  /** The status of the pod's response; 0 before the response. */
  public int responseStatus() {
    return 0;
  }

  /**
   * The status that the caller got, or one that stands for the reason why it got none; 0 before the
   * end.
   */
  public abstract int status();

  /** How often the request was undelivered and queued again. */
  public int retries() {
    return 0;
  }

  /** Whether the request is queued, or was when it ended. */
  public boolean isQueued() {
    return false;
  }

  /** Whether the request has a permit, or had one when it ended. */
  public boolean isRunning() {
    return false;
  }

  /** Whether the request was ever queued. */
  public boolean waited() {
    return false;
  }

  public final boolean responded() {
    return responseStatus() > 0;
  }

  /** The last destination. */
  public @Nullable Destination destination() {
    return null;
  }

  /** Null before the end. */
  public abstract @Nullable RequestOutcome outcome();

  /** Why the last attempt failed, in a few words without an address. */
  public abstract @Nullable String failure();
}
