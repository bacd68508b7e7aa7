package dev.activator.proxy.codec;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.TooLongHttpHeaderException;

/**
 * Validates the line ends of a head or of trailers.
 *
 * <p><b>Errors.</b> {@link Malformed} for folded lines and for a carriage return or line feed
 * alone; {@link TooLongHttpHeaderException}.
 *
 * <p><b>Source.</b> RFC 9112, sections 2.2 and 5.2.
 */
final class LineValidator {
  private enum Next {
    FIRST,
    FIELDS,
    NOTHING
  }

  private final int maxBytes;
  private Next next;
  private int bytes;
  private boolean empty = true;
  private boolean afterReturn;

  private LineValidator(Next first, int maxBytes) {
    this.next = first;
    this.maxBytes = maxBytes;
  }

  static LineValidator ofHead(int maxBytes) {
    return new LineValidator(Next.FIRST, maxBytes);
  }

  static LineValidator ofTrailers(int maxBytes) {
    return new LineValidator(Next.FIELDS, maxBytes);
  }

  void startOver() {
    next = Next.FIRST;
    bytes = 0;
    empty = true;
    afterReturn = false;
  }

  /** Since the last {@link #startOver}. */
  int bytes() {
    return bytes;
  }

  /** 0 if the head is complete, or no more than empty lines before it have come. */
  int partialBytes() {
    return next == Next.NOTHING || next == Next.FIRST && empty ? 0 : bytes;
  }

  /** Returns the end of the last line, or {@code to} if it has not come. */
  int validate(ByteBuf in, int from, int to) {
    int at = from;
    while (at < to && next != Next.NOTHING) {
      at = afterReturn ? endLine(in, at) : line(in, at, to);
    }
    bytes += at - from;
    if (bytes > maxBytes) {
      throw new TooLongHttpHeaderException("more than " + maxBytes + " bytes");
    }
    return at;
  }

  private int line(ByteBuf in, int at, int to) {
    if (empty) {
      checkFirst(in.getByte(at));
    }
    int carriageReturn = in.indexOf(at, to, HttpConstants.CR);
    empty &= carriageReturn == at;
    afterReturn = carriageReturn >= 0;
    return afterReturn ? carriageReturn + 1 : to;
  }

  private void checkFirst(byte first) {
    if (first == HttpConstants.LF) {
      throw new Malformed("line feed without a carriage return");
    }
    if (next == Next.FIELDS && (first == HttpConstants.SP || first == HttpConstants.HT)) {
      throw new Malformed("folded header line");
    }
  }

  private int endLine(ByteBuf in, int at) {
    if (in.getByte(at) != HttpConstants.LF) {
      throw new Malformed("carriage return within a line");
    }
    if (next == Next.FIELDS && empty) {
      next = Next.NOTHING;
    } else if (!empty) {
      next = Next.FIELDS;
    }
    empty = true;
    afterReturn = false;
    return at + 1;
  }
}
