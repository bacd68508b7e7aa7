package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CachedObject;
import dev.activator.embedded.api.cache.Signal;
import org.springframework.core.io.buffer.DataBuffer;

/** The form in which a client wants objects: as they are, or as rows of a table. */
public interface Form {
  /** One object. */
  byte[] object(CachedObject object);

  /** A list. */
  byte[] list(Page page);

  /** The events of one watch. */
  EventEncoder events();

  /** Encodes the events of one watch, in order. */
  interface EventEncoder {
    byte[] encode(Signal signal);

    /** Appends the same bytes, without an array in between where it can. */
    default void encode(Signal signal, DataBuffer out) {
      out.write(encode(signal));
    }
  }
}
