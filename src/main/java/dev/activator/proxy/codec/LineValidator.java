package dev.activator.proxy.codec;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.TooLongHttpHeaderException;

/**
 * The lines of a head, or of trailers, looked at as their bytes come. What is within a line is for
 * whoever reads it.
 *
 * <p>
 * <b>Errors.</b> {@link Malformed} where a line is folded, begins or ends with half of a line's end,
 * or has a carriage return in it; {@link TooLongHttpHeaderException} where there are too many bytes.
 *
 * <p>
 * <b>Source.</b> RFC 9112, sections 2.2 and 5.2.
 */
final class LineValidator {
  private enum Next {
    /** At most empty lines, before the first that is not. */
    FIRST, FIELDS, NOTHING
  }

  private final int mostBytes;
  private Next next;
  private int bytes;
  private boolean empty = true;
  private boolean afterReturn;

  private LineValidator(Next first, int mostBytes) {
    this.next = first;
    this.mostBytes = mostBytes;
  }

  /** A request line after any number of empty ones, then fields. */
  static LineValidator ofHead(int mostBytes) {
    return new LineValidator(Next.FIRST, mostBytes);
  }

  /** Fields, if any. */
  static LineValidator ofTrailers(int mostBytes) {
    return new LineValidator(Next.FIELDS, mostBytes);
  }

  /** Another head comes. */
  void startOver() {
    next = Next.FIRST;
    bytes = 0;
    empty = true;
    afterReturn = false;
  }

  /** Looks at what has come; returns the end of the last line, or {@code to} if it is not there. */
  int look(ByteBuf in, int from, int to) {
    int at = from;
    while (at < to && next != Next.NOTHING) {
      at = afterReturn ? endLine(in, at) : line(in, at, to);
    }
    bytes += at - from;
    if (bytes > mostBytes) {
      throw new TooLongHttpHeaderException("more than " + mostBytes + " bytes");
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
