package dev.activator.proxy.held;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What parts of requests take in memory that are kept for a while, and how they take little: a part
 * keeps all of what was read with it, so one that is small is copied, and small ones are joined.
 *
 * <p>
 * <b>Threads.</b> Only the event loop that keeps the parts may call.
 */
public final class Parts {
  /** What a part takes beyond its bytes, about. */
  static final int PART_BYTES = 128;
  /** A part may keep a buffer of so many times its bytes. */
  private static final int MOST_TIMES = 4;
  /** A part of fewer bytes is joined with others. */
  private static final int SMALL_BYTES = 1 << 10;
  /** So many bytes are joined to one part. */
  private static final int JOINED_BYTES = 4 << 10;

  private Parts() {}

  /** How many bytes it takes, about: its own, its trailers' and what is around them. */
  public static int size(HttpObject part) {
    var content = ofBody(part);
    if (content == null) {
      return Heads.size(part);
    }
    int bytes = PART_BYTES + content.content().readableBytes();
    return content instanceof LastHttpContent last && !last.trailingHeaders().isEmpty()
        ? bytes + Heads.fields(last.trailingHeaders())
        : bytes;
  }

  /** The part of a body that it is; null for a head: one that was refused has its body in it. */
  public static @Nullable HttpContent ofBody(HttpObject part) {
    return part instanceof HttpContent content && !(part instanceof HttpRequest) ? content : null;
  }

  /**
   * Puts a part at the end of those that are kept, on its own or joined to the one before; says by how
   * many bytes the sum of their sizes has grown.
   */
  public static int keep(Deque<? super HttpContent> parts, HttpContent part) {
    int length = part.content().readableBytes();
    if (!(part instanceof LastHttpContent) && length < SMALL_BYTES
        && parts.peekLast() instanceof Joined before
        && before.content().maxWritableBytes() >= length) {
      before.content().writeBytes(part.content());
      part.release();
      return length;
    }
    var kept = compact(part);
    parts.addLast(kept);
    return size(kept);
  }

  /** Those that are kept will be for long: none keeps much more than its size from now on. */
  static void compact(Deque<HttpContent> parts) {
    for (int left = parts.size(); left > 0; left--) {
      parts.addLast(compact(parts.removeFirst()));
    }
  }

  private static HttpContent compact(HttpContent part) {
    var bytes = part.content();
    int length = bytes.readableBytes();
    boolean joins = length < SMALL_BYTES && !(part instanceof LastHttpContent);
    if (part instanceof Joined || (!joins && keptCapacity(bytes) <= MOST_TIMES * length)) {
      return part;
    }
    var copy = joins ? new Joined(bytes) : part.replace(Unpooled.copiedBuffer(bytes));
    copy.setDecoderResult(part.decoderResult());
    part.release();
    return copy;
  }

  /** Of the whole buffer that these bytes are a part of. */
  private static int keptCapacity(ByteBuf bytes) {
    var whole = bytes;
    for (var around = whole; around != null; around = around.unwrap()) {
      whole = around;
    }
    return whole.capacity();
  }

  /** A copy of a small part, with room for others that follow. Only what keeps it knows of it. */
  private static final class Joined extends DefaultHttpContent {
    private Joined(ByteBuf first) {
      super(Unpooled.buffer(first.readableBytes(), JOINED_BYTES));
      content().writeBytes(first, first.readerIndex(), first.readableBytes());
    }
  }
}
