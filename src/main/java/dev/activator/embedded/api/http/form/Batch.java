package dev.activator.embedded.api.http.form;

import dev.activator.embedded.api.cache.object.Signal;
import java.util.List;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;

/**
 * Events of one watch that are written at once.
 *
 * @param events in order; none for the beginning of a watch, which has a head alone
 * @param taken is to be run when writing begins: from then on there is room for another batch
 */
public record Batch(List<Event> events, Runnable taken) {
  /** Clients split the stream by line. */
  private static final byte LINE_END = '\n';

  /** One event, encoded when it is written. */
  public sealed interface Event {
    /** At least so many bytes. */
    int size();

    void write(DataBuffer out);

    byte[] bytes();
  }

  /** What the cache said. */
  public record Told(Signal signal, Form.EventEncoder encoder) implements Event {
    /** What is around an object. */
    private static final int FRAME_BYTES = 40;

    @Override
    public int size() {
      return FRAME_BYTES + (signal instanceof Signal.Changed(_, var object)
          ? object.json().length
          : 0);
    }

    @Override
    public void write(DataBuffer out) {
      encoder.encode(signal, out);
    }

    @Override
    public byte[] bytes() {
      return encoder.encode(signal);
    }
  }

  /** What is said instead. */
  public record Encoded(byte[] bytes) implements Event {
    /** One event; no bytes stand for none. */
    public static Batch batch(byte[] event) {
      return new Batch(event.length == 0 ? List.of() : List.of(new Encoded(event)), () -> {
      });
    }

    @Override
    public int size() {
      return bytes.length;
    }

    @Override
    public void write(DataBuffer out) {
      out.write(bytes);
    }
  }

  /** The events, for who has begun to write them. */
  public List<Event> take() {
    taken.run();
    return events;
  }

  /** The same as bytes; no bytes stand for no event. */
  public List<byte[]> takeBytes() {
    taken.run();
    return events.isEmpty() ? List.of(new byte[0]) : events.stream().map(Event::bytes).toList();
  }

  /** Events as the lines of a watch over plain HTTP. */
  public static DataBuffer lines(List<Event> events, DataBufferFactory buffers) {
    int size = events.size();
    for (var event : events) {
      size += event.size();
    }
    var out = buffers.allocateBuffer(size);
    for (var event : events) {
      event.write(out);
      out.write(LINE_END);
    }
    return out;
  }

  /** An event as one message of a WebSocket. */
  public static DataBuffer message(Event event, DataBufferFactory buffers) {
    var out = buffers.allocateBuffer(event.size());
    event.write(out);
    return out;
  }
}
