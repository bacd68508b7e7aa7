package dev.activator.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** One end of an HTTP/2 connection, frame by frame: what is malformed or too much is really so. */
public final class RawHttp2 implements Closeable {
  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;
  public static final int CONTINUATION = 9;
  public static final int NO_GOAWAY = -1;
  public static final int END_STREAM = 1;
  public static final int ACK = 1;
  public static final int END_HEADERS = 4;
  public static final int MAX_CONCURRENT_STREAMS = 3;
  public static final int INITIAL_WINDOW_SIZE = 4;

  /** The most that a frame may carry, unless the peer allows more. */
  private static final int MOST_BYTES = 16_384;
  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  /** A frame; of one with a head, its fields as {@code name: value} lines. */
  public record Frame(int type, int flags, int stream, byte[] payload, List<String> fields) {
    public boolean ends() {
      return (flags & END_STREAM) != 0 && (type == DATA || type == HEADERS);
    }

    /** The value of a field; null if there is none. */
    public String field(String name) {
      return fields.stream().filter(field -> field.startsWith(name + ": "))
          .map(field -> field.substring(name.length() + 2)).findFirst().orElse(null);
    }

    public String text() {
      return new String(payload, StandardCharsets.ISO_8859_1);
    }

    /** The number that an RST_STREAM, a WINDOW_UPDATE or, behind the stream, a GOAWAY carries. */
    public int number() {
      return ByteBuffer.wrap(payload).getInt(type == GOAWAY ? 4 : 0);
    }

    @Override
    public String toString() {
      return "type " + type + " flags " + flags + " stream " + stream + " " + fields + " "
          + payload.length + " bytes";
    }
  }

  private final RawPeer peer;
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false,
      1 << 20);

  private RawHttp2(RawPeer peer) {
    this.peer = peer;
  }

  /** A caller, with these settings: identifier, value, and so on. */
  public static RawHttp2 caller(RawPeer peer, int... settings) throws IOException {
    var http2 = new RawHttp2(peer);
    peer.send(PREFACE);
    http2.settings(settings);
    return http2;
  }

  /** A pod, on a connection that was accepted. */
  public static RawHttp2 pod(RawPeer peer, int... settings) throws IOException {
    var http2 = new RawHttp2(peer);
    var first = peer.read(PREFACE.length());
    if (first.isEmpty()) {
      throw new EOFException("given up before the preface");
    }
    if (!first.equals(PREFACE)) {
      throw new AssertionError("no HTTP/2");
    }
    peer.speaksHttp2();
    http2.settings(settings);
    return http2;
  }

  public RawPeer peer() {
    return peer;
  }

  public RawHttp2 settings(int... settings) throws IOException {
    var payload = ByteBuffer.allocate(settings.length / 2 * 6);
    for (int i = 0; i < settings.length; i += 2) {
      payload.putShort((short) settings[i]).putInt(settings[i + 1]);
    }
    return frame(SETTINGS, 0, 0, payload.array());
  }

  /** Sends a head, in one frame if it fits: name, value, and so on. */
  public RawHttp2 headers(int stream, boolean end, String... fields) throws IOException {
    byte[] block = encode(fields);
    int from = 0;
    do {
      int to = Math.min(block.length, from + MOST_BYTES);
      int flags = (to == block.length ? END_HEADERS : 0) | (from == 0 && end ? END_STREAM : 0);
      frame(from == 0 ? HEADERS : CONTINUATION, flags, stream,
          Arrays.copyOfRange(block, from, to));
      from = to;
    } while (from < block.length);
    return this;
  }

  public RawHttp2 data(int stream, boolean end, String text) throws IOException {
    return data(stream, end, text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawHttp2 data(int stream, boolean end, byte[] bytes) throws IOException {
    return frame(DATA, end ? END_STREAM : 0, stream, bytes);
  }

  public RawHttp2 reset(int stream, int error) throws IOException {
    return frame(RST_STREAM, 0, stream, number(error));
  }

  public RawHttp2 window(int stream, int more) throws IOException {
    return frame(WINDOW_UPDATE, 0, stream, number(more));
  }

  public RawHttp2 goAway(int last, int error) throws IOException {
    return frame(GOAWAY, 0, 0, goAwayPayload(last, error));
  }

  public static byte[] goAwayPayload(int last, int error) {
    return ByteBuffer.allocate(8).putInt(last).putInt(error).array();
  }

  private static byte[] number(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  public RawHttp2 frame(int type, int flags, int stream, byte[] payload) throws IOException {
    peer.send(bytes(type, flags, stream, payload));
    return this;
  }

  /** A frame's bytes. */
  public static byte[] bytes(int type, int flags, int stream, byte[] payload) {
    return ByteBuffer.allocate(9 + payload.length).put((byte) (payload.length >> 16))
        .putShort((short) payload.length).put((byte) type).put((byte) flags).putInt(stream)
        .put(payload).array();
  }

  /** Fields as HPACK writes them plainly: neither indexed nor compressed. */
  public static byte[] encode(String... fields) {
    var out = new ByteArrayOutputStream();
    for (int i = 0; i < fields.length; i += 2) {
      out.write(0);
      string(out, fields[i]);
      string(out, fields[i + 1]);
    }
    return out.toByteArray();
  }

  private static void string(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    int length = bytes.length;
    if (length < 127) {
      out.write(length);
    } else {
      out.write(127);
      for (length -= 127; length >= 128; length >>= 7) {
        out.write(length & 127 | 128);
      }
      out.write(length);
    }
    out.writeBytes(bytes);
  }

  /** The next frame of any kind. */
  public Frame readAny() throws IOException {
    byte[] head = bytes(9);
    int length = (head[0] & 255) << 16 | (head[1] & 255) << 8 | head[2] & 255;
    int stream = ByteBuffer.wrap(head).getInt(5);
    byte[] payload = bytes(length);
    if (head[3] != HEADERS) {
      return new Frame(head[3], head[4], stream, payload, List.of());
    }
    peer.headCame();
    return new Frame(HEADERS, head[4] | END_HEADERS, stream, payload,
        fields(stream, (head[4] & END_HEADERS) != 0 ? payload : continued(payload)));
  }

  /** A head with the frames that continue it. */
  private byte[] continued(byte[] first) throws IOException {
    var block = new ByteArrayOutputStream();
    block.writeBytes(first);
    byte[] head;
    do {
      head = bytes(9);
      block.writeBytes(bytes((head[0] & 255) << 16 | (head[1] & 255) << 8 | head[2] & 255));
    } while ((head[4] & END_HEADERS) == 0);
    return block.toByteArray();
  }

  /** The next that is not about the connection: settings are acknowledged, windows passed over. */
  public Frame read() throws IOException {
    while (true) {
      var frame = readAny();
      if (frame.type == SETTINGS && (frame.flags & ACK) == 0) {
        frame(SETTINGS, ACK, 0, new byte[0]);
      } else if (frame.type != SETTINGS && frame.type != WINDOW_UPDATE) {
        return frame;
      }
    }
  }

  /** The next of this kind, whatever comes before it. */
  public Frame read(int type) throws IOException {
    var frame = type == SETTINGS || type == WINDOW_UPDATE ? readAny() : read();
    while (frame.type != type) {
      frame = type == SETTINGS || type == WINDOW_UPDATE ? readAny() : read();
    }
    return frame;
  }

  /** The response on a stream, as {@code status body}, where nothing else is going on. */
  public String response(int stream) throws IOException {
    var head = read();
    if (head.type != HEADERS || head.stream != stream) {
      throw new AssertionError("not the response: " + head);
    }
    return head.field(":status") + " " + (head.ends() ? "" : body(stream));
  }

  /** This many whole responses, by their streams, in whatever order their frames come. */
  public Map<Integer, String> responses(int count) throws IOException {
    var heads = new TreeMap<Integer, String>();
    int ended = 0;
    while (ended < count) {
      var frame = read();
      String more = frame.type == HEADERS && !heads.containsKey(frame.stream)
          ? frame.field(":status") + " "
          : frame.type == DATA ? frame.text() : "";
      heads.merge(frame.stream, more, String::concat);
      ended += frame.ends() ? 1 : 0;
    }
    return heads;
  }

  /** The rest of a body, to its end. */
  public String body(int stream) throws IOException {
    var body = new StringBuilder();
    Frame part;
    do {
      part = read();
      if (part.stream != stream || part.type != DATA && part.type != HEADERS) {
        throw new AssertionError("not the body: " + part);
      }
      if (part.type == DATA) {
        body.append(part.text());
      }
    } while (!part.ends());
    return body.toString();
  }

  /** Waits for the end of the connection; the error of the GOAWAY before it, or {@link #NO_GOAWAY}. */
  public int awaitEnd() throws IOException {
    int error = NO_GOAWAY;
    try {
      while (true) {
        var frame = readAny();
        if (frame.type == GOAWAY) {
          error = frame.number();
        }
      }
    } catch (SocketException reset) {
      return error;
    } catch (IOException ended) {
      if (!String.valueOf(ended.getMessage()).startsWith("the connection ended")) {
        throw ended;
      }
      return error;
    }
  }

  private byte[] bytes(int length) throws IOException {
    return peer.read(length).getBytes(StandardCharsets.ISO_8859_1);
  }

  private List<String> fields(int stream, byte[] block) {
    ByteBuf in = Unpooled.wrappedBuffer(block);
    try {
      var fields = new ArrayList<String>();
      decoder.decodeHeaders(stream, in)
          .forEach(field -> fields.add(field.getKey() + ": " + field.getValue()));
      return fields;
    } catch (Http2Exception malformed) {
      throw new AssertionError(malformed);
    }
  }

  @Override
  public void close() throws IOException {
    peer.close();
  }
}
