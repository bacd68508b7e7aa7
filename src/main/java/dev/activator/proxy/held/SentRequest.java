package dev.activator.proxy.held;

import dev.activator.proxy.codec.Http2Head;
import dev.activator.proxy.codec.NettyFields;
import dev.activator.proxy.policy.Replay;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What was sent of a request, kept while it may have to be sent again: until its head is out, and
 * until the pod has answered if the request may be done twice, or the pod may say that it has not
 * looked at it, as pods do in HTTP/2.
 *
 * <p>
 * <b>Threads.</b> Only the event loop whose share of the held bytes it counts in may call.
 *
 * <p>
 * <b>Source.</b> RFC 9110, section 9.2.2; RFC 9113, section 8.7.
 */
public final class SentRequest {
  /** A body that takes more is not kept: a pod that was sent so much has looked. */
  private static final int MOST_BYTES = 64 << 10;

  private final HeldBytes.Share held;
  private final boolean harmless;
  private final boolean bodiless;
  private final boolean untilAnswered;
  private @Nullable Deque<HttpContent> parts;
  private int bytes;
  private boolean ended;
  private boolean headIsOut;
  private boolean whole = true;
  private int replays;

  private SentRequest(HeldBytes.Share held, boolean harmless, boolean bodiless,
      boolean untilAnswered) {
    this.held = held;
    this.harmless = harmless;
    this.bodiless = bodiless;
    this.untilAnswered = untilAnswered;
  }

  /** Nothing of this request was sent yet. */
  public static SentRequest of(HttpRequest request, HeldBytes.Share held) {
    var fields = new NettyFields(request.headers());
    boolean harmless = Replay.isHarmless(request.method().name(), fields);
    boolean http2 = request.protocolVersion().majorVersion() == Http2Head.VERSION.majorVersion();
    return new SentRequest(held, harmless, !http2 && Replay.hasNoBody(fields), harmless || http2);
  }

  /** Whether it does no harm to send it on a connection that may be dead. */
  public boolean mayBeRisked() {
    return harmless && bodiless;
  }

  /** A part of the body that is about to be sent. */
  public void add(HttpContent part) {
    if (!whole) {
      return;
    }
    if (part == LastHttpContent.EMPTY_LAST_CONTENT) {
      ended = true;
      return;
    }
    if (bytes + Parts.size(part) > MOST_BYTES) {
      forget();
    } else {
      count(keep(part.retainedDuplicate()));
    }
  }

  private int keep(HttpContent part) {
    var all = parts == null ? new ArrayDeque<HttpContent>(2) : parts;
    parts = all;
    if (headIsOut || !all.isEmpty()) {
      return Parts.keep(all, part);
    }
    // It may be forgotten as soon as it is written, and is not worth a copy before.
    all.add(part);
    return Parts.size(part);
  }

  /** All of the head has left. */
  public void headIsOut() {
    if (!untilAnswered) {
      forget();
    } else if (!headIsOut && parts != null) {
      Parts.compact(parts);
    }
    headIsOut = true;
  }

  /** The pod has looked at it, or nobody wants it any more. */
  public void forget() {
    whole = false;
    count(-bytes);
    if (parts != null) {
      parts.forEach(HttpContent::release);
      parts = null;
    }
  }

  /** What to do, now that the connection it was sent on has failed without an answer. */
  public Replay replay(UpstreamConnection used, UpstreamFailure failure) {
    if (failure == UpstreamFailure.MALFORMED) {
      // An answer that cannot be read is one: the pod lives, and has acted on the request.
      return Replay.NOT_AT_ALL;
    }
    boolean unseen = failure == UpstreamFailure.NOT_TAKEN || !used.headIsOut();
    boolean stale = used.reused() && failure != UpstreamFailure.CANCELLED;
    return new Replay.Loss(unseen, stale, harmless, whole, replays++).replay();
  }

  /** Puts everything back where it came from, to be sent again. */
  public void giveBack(RequestBody body) {
    headIsOut = false;
    count(-bytes);
    if (ended) {
      body.putBack(LastHttpContent.EMPTY_LAST_CONTENT);
      ended = false;
    }
    while (parts != null && !parts.isEmpty()) {
      body.putBack(parts.removeLast());
    }
  }

  private void count(int more) {
    bytes += more;
    held.add(more);
  }
}
