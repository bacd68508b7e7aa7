package dev.activator.proxy.hostile;

import dev.activator.testing.RawHttp2;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * One end of an HTTP/2 connection: reads frames strictly, acknowledges SETTINGS and PING, and checks
 * that the other end keeps to the windows.
 */
final class Http2Reader {
  static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  private static final int DEFAULT_WINDOW = 65_535;

  final Map<Integer, Message> messages = new TreeMap<>();
  /** The last stream that the other end serves. */
  int goAway = Integer.MAX_VALUE;
  private final Consumer<byte[]> out;
  private final boolean caller;
  private final boolean grants;
  private final int window;
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false, 1 << 20);
  private final Map<Integer, Integer> windows = new TreeMap<>();
  private int connectionWindow = DEFAULT_WINDOW;
  private byte[] unread = new byte[0];
  private boolean prefaceRead;

  /** @param grants whether windows are opened again for what was read */
  Http2Reader(Consumer<byte[]> out, boolean caller, boolean grants, int window) {
    this.out = out;
    this.caller = caller;
    this.grants = grants;
    this.window = window;
    this.prefaceRead = caller;
  }

  void settings(int... settings) {
    var payload = ByteBuffer.allocate(settings.length / 2 * 6);
    for (int i = 0; i < settings.length; i += 2) {
      payload.putShort((short) settings[i]).putInt(settings[i + 1]);
    }
    out.accept(RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, payload.array()));
  }

  void headers(int stream, boolean last, String... fields) {
    out.accept(RawHttp2.bytes(RawHttp2.HEADERS,
        RawHttp2.END_HEADERS | (last ? RawHttp2.END_STREAM : 0), stream, RawHttp2.encode(fields)));
  }

  void data(int stream, boolean last, byte[] bytes) {
    out.accept(
        RawHttp2.bytes(RawHttp2.DATA, last ? RawHttp2.END_STREAM : 0, stream, bytes));
  }

  void number(int type, int stream, int number) {
    out.accept(
        RawHttp2.bytes(type, 0, stream, ByteBuffer.allocate(4).putInt(number).array()));
  }

  void goAway(int last) {
    out.accept(RawHttp2.bytes(RawHttp2.GOAWAY, 0, 0, RawHttp2.goAwayPayload(last, 0)));
  }

  /** Frames that ask for an answer. */
  void flood(int frames) {
    for (int i = 0; i < frames; i++) {
      if (i % 2 == 0) {
        out.accept(RawHttp2.bytes(RawHttp2.PING, 0, 0, new byte[8]));
      } else {
        settings();
      }
    }
  }

  void read(byte[] bytes) {
    int before = unread.length;
    unread = Arrays.copyOf(unread, before + bytes.length);
    System.arraycopy(bytes, 0, unread, before, bytes.length);
    if (!prefaceRead && unread.length >= PREFACE.length()) {
      prefaceRead = true;
      String preface = new String(take(PREFACE.length()), StandardCharsets.ISO_8859_1);
      if (!preface.equals(PREFACE)) {
        throw new AssertionError("not HTTP/2: " + preface);
      }
    }
    while (prefaceRead && unread.length >= 9) {
      int length = (unread[0] & 255) << 16 | (unread[1] & 255) << 8 | unread[2] & 255;
      if (unread.length < 9 + length) {
        break;
      }
      byte[] head = take(9);
      frame(head[3], head[4], ByteBuffer.wrap(head).getInt(5), take(length));
    }
  }

  private byte[] take(int length) {
    byte[] taken = Arrays.copyOf(unread, length);
    unread = Arrays.copyOfRange(unread, length, unread.length);
    return taken;
  }

  private void frame(int type, int flags, int stream, byte[] payload) {
    switch (type) {
      case RawHttp2.SETTINGS -> {
        if ((flags & RawHttp2.ACK) == 0) {
          out.accept(RawHttp2.bytes(RawHttp2.SETTINGS, RawHttp2.ACK, 0, new byte[0]));
        }
      }
      case RawHttp2.PING -> {
        if ((flags & RawHttp2.ACK) == 0) {
          out.accept(RawHttp2.bytes(RawHttp2.PING, RawHttp2.ACK, 0, payload));
        }
      }
      case RawHttp2.HEADERS -> head(stream, flags, payload);
      case RawHttp2.DATA -> data(stream, flags, payload);
      case RawHttp2.RST_STREAM -> {
        var message = message(stream);
        if (message.reset == Message.NOT_RESET) {
          message.reset = ByteBuffer.wrap(payload).getInt();
        }
      }
      case RawHttp2.GOAWAY -> goAway = ByteBuffer.wrap(payload).getInt();
      case RawHttp2.WINDOW_UPDATE -> {
        // Nothing that is sent exceeds the initial windows.
      }
      default -> throw new AssertionError("a frame of type " + type);
    }
  }

  private Message message(int stream) {
    return messages.computeIfAbsent(stream, _ -> new Message());
  }

  private void head(int stream, int flags, byte[] payload) {
    if ((flags & RawHttp2.END_HEADERS) == 0) {
      throw new AssertionError("a head in several frames");
    }
    var message = open(stream, "HEADERS");
    var fields = fields(stream, payload);
    String start = first(fields, caller ? ":status" : ":path");
    if (message.hasHead) {
      if ((flags & RawHttp2.END_STREAM) == 0 || start != null) {
        throw new AssertionError("a second head on stream " + stream + ": " + fields);
      }
      message.trailers = fields;
    } else if (start == null) {
      throw new AssertionError("a head without a start: " + fields);
    } else if (caller && start.startsWith("1")) {
      message.interims.add(Integer.parseInt(start));
    } else {
      message.start = start;
      message.fields = fields;
      message.hasHead = true;
    }
    message.complete |= (flags & RawHttp2.END_STREAM) != 0;
  }

  /** A message that may go on. */
  private Message open(int stream, String frame) {
    var message = message(stream);
    if (message.complete || message.reset != Message.NOT_RESET) {
      throw new AssertionError(frame + " after the end of stream " + stream);
    }
    return message;
  }

  private void data(int stream, int flags, byte[] payload) {
    var message = open(stream, "DATA");
    if (!message.hasHead) {
      throw new AssertionError("DATA before a head");
    }
    connectionWindow -= payload.length;
    int left = windows.merge(stream, -payload.length, (was, more) -> was + more);
    if (left + window < 0 || connectionWindow < 0) {
      throw new AssertionError("more than the window of stream " + stream);
    }
    message.body.writeBytes(payload);
    message.complete |= (flags & RawHttp2.END_STREAM) != 0;
    if (payload.length > 0) {
      connectionWindow += payload.length;
      number(RawHttp2.WINDOW_UPDATE, 0, payload.length);
    }
    if (payload.length > 0 && grants && !message.complete) {
      windows.merge(stream, payload.length, Integer::sum);
      number(RawHttp2.WINDOW_UPDATE, stream, payload.length);
    }
  }

  private static String first(List<String> fields, String name) {
    return fields.stream().filter(field -> field.startsWith(name + ": "))
        .map(field -> field.substring(name.length() + 2)).findFirst().orElse(null);
  }

  private List<String> fields(int stream, byte[] block) {
    var fields = new ArrayList<String>();
    try {
      decoder.decodeHeaders(stream, Unpooled.wrappedBuffer(block))
          .forEach(field -> fields.add(field.getKey() + ": " + field.getValue()));
    } catch (Http2Exception e) {
      throw new AssertionError(e);
    }
    return fields;
  }
}
