package dev.activator.proxy.codec;

import dev.activator.proxy.codec.Http1RequestDecoder.LineValidator;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpConstants;

/**
 * Validates the framing of a chunked body while the body is read. Does not check the content of
 * chunk extensions, only their length.
 *
 * <p><b>Errors.</b> {@link MalformedRequestException}, and {@link LineValidator}'s for trailers.
 *
 * <p><b>Source.</b> RFC 9112, section 7.1. Limits as in Go's {@code chunked.go}, except for chunks
 * of 2 GiB and for trailers.
 */
final class ChunkValidator {
  private static final int HEX = 16;
  private static final int MAX_DIGITS = 16;
  private static final int MAX_LINE_BYTES = 4 << 10;
  /** The maximum number of framing bytes in excess of what chunks of a fair size need. */
  private static final int MAX_EXCESS_BYTES = 16 << 10;
  private static final int FAIR_BYTES = 16;
  private static final int MAX_TRAILER_BYTES = 64 << 10;

  private enum Next {
    SIZE,
    EXTENSION,
    LINE_FEED,
    DATA,
    DATA_RETURN,
    DATA_LINE_FEED,
    TRAILERS
  }

  private final LineValidator trailers = LineValidator.ofTrailers(MAX_TRAILER_BYTES);
  private Next next = Next.SIZE;
  private long bytesLeft;
  private int digits;
  private int lineBytes;
  private long excessBytes;

  /** Returns the end of the body, or {@code to} if it has not come. */
  int validate(ByteBuf in, int from, int to) {
    int at = from;
    while (at < to && next != Next.TRAILERS) {
      if (next == Next.DATA) {
        at = passData(at, to);
      } else {
        frame(in.getByte(at));
        at++;
      }
    }
    return next == Next.TRAILERS ? trailers.validate(in, at, to) : at;
  }

  private int passData(int at, int to) {
    int here = (int) Math.min(bytesLeft, to - at);
    bytesLeft -= here;
    if (bytesLeft == 0) {
      next = Next.DATA_RETURN;
    }
    return at + here;
  }

  private void frame(byte b) {
    switch (next) {
      case SIZE -> size(b);
      case EXTENSION -> extension(b);
      case LINE_FEED -> {
        expect(HttpConstants.LF, b, "carriage return within the line of a chunk");
        lineEnds();
      }
      case DATA_RETURN -> {
        expect(HttpConstants.CR, b, "chunk longer than its size");
        next = Next.DATA_LINE_FEED;
      }
      case DATA_LINE_FEED -> {
        expect(HttpConstants.LF, b, "chunk longer than its size");
        next = Next.SIZE;
      }
      case DATA, TRAILERS -> throw new IllegalStateException(next + " is not part of the framing");
    }
  }

  private void size(byte b) {
    int digit = Character.digit(b & 0xff, HEX);
    lineBytes++;
    if (digit >= 0) {
      digits++;
      bytesLeft = bytesLeft * HEX + digit;
      if (digits > MAX_DIGITS || bytesLeft > Integer.MAX_VALUE) {
        throw new MalformedRequestException("chunk size too large");
      }
    } else if (digits == 0 || !endsSize(b)) {
      throw new MalformedRequestException("malformed chunk size");
    } else {
      next = b == HttpConstants.CR ? Next.LINE_FEED : Next.EXTENSION;
    }
  }

  private static boolean endsSize(byte b) {
    return b == HttpConstants.CR || b == HttpConstants.SEMICOLON || b == HttpConstants.SP
        || b == HttpConstants.HT;
  }

  private void extension(byte b) {
    lineBytes++;
    if (b == HttpConstants.CR) {
      next = Next.LINE_FEED;
    } else if (b == HttpConstants.LF) {
      throw new MalformedRequestException("line feed without a carriage return");
    } else if (lineBytes > MAX_LINE_BYTES) {
      throw new MalformedRequestException("chunk extensions too long");
    }
  }

  private void lineEnds() {
    excessBytes = Math.max(0, excessBytes + lineBytes + 1 - FAIR_BYTES - 2 * bytesLeft);
    if (excessBytes > MAX_EXCESS_BYTES) {
      throw new MalformedRequestException("more chunk extensions than data");
    }
    next = bytesLeft == 0 ? Next.TRAILERS : Next.DATA;
    digits = 0;
    lineBytes = 0;
  }

  private static void expect(byte wanted, byte b, String wrong) {
    if (b != wanted) {
      throw new MalformedRequestException(wrong);
    }
  }
}
