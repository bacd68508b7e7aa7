package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Buffers the head and the body parts of a request, in order, until they can be forwarded, and
 * counts their memory. A part keeps the whole buffer alive into which it was read. So a small part is
 * copied into a shared buffer; a larger one is copied to the heap if it is a slice. The first part is
 * copied only after {@link #compact}, because it is usually forwarded at once.
 */
public final class RequestBuffer {
  static final int PART_BYTES = 128;
  private static final int SMALL_BYTES = 1 << 10;
  private static final int JOINED_BYTES = 4 << 10;

  private final HeldRequestBytes.Share held;
  private @Nullable ArrayDeque<HttpObject> parts;
  private @Nullable QueueEntry queueEntry;
  private int bytes;
  private int headBytes;
  private boolean compact;

  public RequestBuffer(HeldRequestBytes.Share held) {
    this.held = held;
  }

  public boolean isEmpty() {
    return parts == null || parts.isEmpty();
  }

  public int bytes() {
    return bytes;
  }

  /** Whether no more should be read ahead of what is forwarded. */
  boolean isWindowFull() {
    if (queueEntry == null) {
      // Without parts, the bytes of all loops need not be added up.
      return !isEmpty() && bytes >= held.windowWhileForwarding();
    }
    return bytes >= held.windowWhileQueued(queueEntry.heldBytes());
  }

  public void add(HttpObject part) {
    var all = parts();
    var content = contentOf(part);
    if (content == null || (all.isEmpty() && !compact)) {
      all.add(part);
      count(cost(part));
    } else if (!join(all.peekLast(), content)) {
      var kept = compacted(content);
      all.add(kept);
      count(cost(kept));
    }
  }

  /** Adds a copy that shares the bytes, unless the buffer would have more than this. */
  boolean addCopy(HttpContent part, int maxBytes) {
    if (bytes + cost(part) > maxBytes) {
      return false;
    }
    // Like Netty, but without a table for trailers.
    add(part instanceof LastHttpContent last && last.trailingHeaders().isEmpty()
        ? new DefaultLastHttpContent(part.content().retainedDuplicate(), EmptyHttpHeaders.INSTANCE)
        : part.retainedDuplicate());
    return true;
  }

  public void putBack(HttpObject part) {
    parts().addFirst(part);
    count(cost(part));
  }

  public void putBackAll(RequestBuffer other) {
    while (!other.isEmpty()) {
      var last = other.parts().removeLast();
      other.count(-cost(last));
      putBack(last);
    }
  }

  public @Nullable HttpObject peek() {
    return parts == null ? null : parts.peekFirst();
  }

  /** Removes the first part, which the caller must release; null if there is none. */
  public @Nullable HttpObject poll() {
    var part = parts == null ? null : parts.pollFirst();
    if (part != null) {
      count(-cost(part));
    }
    return part;
  }

  public void clear() {
    for (var part = poll(); part != null; part = poll()) {
      ReferenceCountUtil.release(part);
    }
  }

  /** Copies what retains more than it has, also later, because it will stay for a while. */
  public void compact() {
    if (compact) {
      return;
    }
    compact = true;
    for (int left = parts == null ? 0 : parts.size(); left > 0; left--) {
      var part = parts().removeFirst();
      var content = contentOf(part);
      parts().addLast(content == null ? part : compacted(content));
    }
  }

  /** Also counts the bytes for the revision's queue from now on. */
  public void countIn(QueueEntry queue, int ofHead) {
    headBytes = ofHead;
    queueEntry = queue;
    compact();
    held.add(countedHead());
    queue.addHeldBytes(ofHead + bytes);
  }

  /** Idempotent. */
  public void countOut() {
    if (queueEntry != null) {
      held.add(-countedHead());
      queueEntry.addHeldBytes(-headBytes - bytes);
      queueEntry = null;
      compact = false;
    }
  }

  /** The bytes of the head that this buffer counts. Large heads were counted on arrival. */
  private int countedHead() {
    return headBytes > HeldMemoryLimit.LARGE_HEAD_BYTES ? 0 : headBytes;
  }

  private ArrayDeque<HttpObject> parts() {
    if (parts == null) {
      parts = new ArrayDeque<>(2);
    }
    return parts;
  }

  private void count(int more) {
    bytes += more;
    held.add(more);
    if (queueEntry != null) {
      queueEntry.addHeldBytes(more);
    }
  }

  private boolean join(@Nullable HttpObject before, HttpContent part) {
    int length = part.content().readableBytes();
    if (!isSmall(part) || !(before instanceof Joined joined)
        || joined.content().maxWritableBytes() < length) {
      return false;
    }
    joined.content().writeBytes(part.content());
    part.release();
    count(length);
    return true;
  }

  private static boolean isSmall(HttpContent part) {
    return part.content().readableBytes() < SMALL_BYTES && !(part instanceof LastHttpContent);
  }

  private static HttpContent compacted(HttpContent part) {
    var content = part.content();
    boolean joins = isSmall(part);
    if (part instanceof Joined
        || (!joins && wasteOf(content) <= content.readableBytes() / 2)) {
      return part;
    }
    var copy = joins ? new Joined(content) : part.replace(Unpooled.copiedBuffer(content));
    copy.setDecoderResult(part.decoderResult());
    part.release();
    return copy;
  }

  /** The bytes that a part retains beyond its own. */
  private static int wasteOf(ByteBuf bytes) {
    var whole = bytes;
    for (var around = whole; around != null; around = around.unwrap()) {
      whole = around;
    }
    return whole.capacity() - bytes.readableBytes();
  }

  static int cost(HttpObject part) {
    var content = contentOf(part);
    if (content == null) {
      return HeldRequestBytes.ofHead((HttpRequest) part);
    }
    int bytes = PART_BYTES + content.content().readableBytes();
    return content instanceof LastHttpContent last && !last.trailingHeaders().isEmpty()
        ? bytes + HeldRequestBytes.ofFields(HeaderFieldList.of(last.trailingHeaders()))
        : bytes;
  }

  /**
   * The body part; null for a head. A refused request counts as a head, although it is head and
   * body in one object.
   */
  private static @Nullable HttpContent contentOf(HttpObject part) {
    return part instanceof HttpContent content && !(part instanceof HttpRequest) ? content : null;
  }

  private static final class Joined extends DefaultHttpContent {
    private Joined(ByteBuf first) {
      super(Unpooled.buffer(first.readableBytes(), JOINED_BYTES));
      content().writeBytes(first, first.readerIndex(), first.readableBytes());
    }
  }
}
