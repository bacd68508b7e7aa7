package dev.activator.proxy.exchange;

import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * What was sent of a request's body, kept so that it can be sent again. {@link Forwarder} extends it,
 * so that most requests, which have no body, need no object for it.
 */
abstract sealed class SentBody permits Forwarder {
  /** A pod that has read more than this has probably acted on the request. */
  private static final int MAX_BYTES = 64 << 10;

  final Exchange exchange;
  /** Null while there is nothing but perhaps the {@link #end}. */
  private @Nullable RequestBuffer parts;
  private boolean end;
  private boolean whole = true;

  SentBody(Exchange exchange) {
    this.exchange = exchange;
  }

  /** Whether all that was sent is kept. */
  final boolean isWhole() {
    return whole;
  }

  final void keep(HttpContent part) {
    if (!whole) {
      return;
    }
    if (part == LastHttpContent.EMPTY_LAST_CONTENT) {
      end = true;
      return;
    }
    var all = parts == null ? new RequestBuffer(exchange.dispatcher.held()) : parts;
    parts = all;
    if (all.bytes() + RequestBuffer.cost(part) > MAX_BYTES) {
      forget();
      return;
    }
    all.add(copy(part));
  }

  /** Copies a part like Netty, but without a table for trailers. */
  private static HttpContent copy(HttpContent part) {
    return part instanceof LastHttpContent last && last.trailingHeaders().isEmpty()
        ? new DefaultLastHttpContent(part.content().retainedDuplicate(), EmptyHttpHeaders.INSTANCE)
        : part.retainedDuplicate();
  }

  /** Call when it will be kept for a while. */
  final void compact() {
    if (parts != null) {
      parts.compact();
    }
  }

  /** Keeps nothing from now on. */
  final void forget() {
    whole = false;
    if (parts != null) {
      parts.clear();
      parts = null;
    }
  }

  /** Puts all of it before what the exchange has not sent yet. */
  final void putBack() {
    var unsent = exchange.body();
    if (end) {
      unsent.putBack(LastHttpContent.EMPTY_LAST_CONTENT);
      end = false;
    }
    if (parts != null) {
      unsent.putBackAll(parts);
      parts = null;
    }
  }
}
