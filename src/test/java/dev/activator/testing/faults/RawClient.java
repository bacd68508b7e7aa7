package dev.activator.testing.faults;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;

/** A client that sends bytes and sees exactly what comes back, the end of the connection included. */
final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 120_000;
  private static final int SMALL_BUFFER = 4_096;

  private final Socket socket;
  private final InputStream in;
  private final StringBuilder partial = new StringBuilder();
  private final Queue<String> lines = new ArrayDeque<>();
  private End end;

  /** How what the server sends ends. */
  enum End {
    /** As the protocol says. */
    COMPLETE,
    /** The connection is closed before that. */
    CUT,
    /** The connection is reset. */
    RESET
  }

  private RawClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream(), SMALL_BUFFER);
  }

  static RawClient connect(int port) {
    try {
      var socket = new Socket();
      socket.setReceiveBufferSize(SMALL_BUFFER);
      socket.connect(new InetSocketAddress("127.0.0.1", port), PATIENCE_MILLIS);
      socket.setSoTimeout(PATIENCE_MILLIS);
      return new RawClient(socket);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Sends a GET; header lines may follow. */
  static RawClient get(int port, String path, String... headers) {
    return connect(port).send("GET", path, "", headers);
  }

  /** Asks for a WebSocket. */
  static RawClient webSocket(int port, String path) {
    return get(port, path, "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==");
  }

  /** Sends a ping over a WebSocket, of a few characters. */
  void ping(String text) {
    var bytes = text.getBytes(StandardCharsets.US_ASCII);
    var frame = new byte[6 + bytes.length];
    frame[0] = (byte) 0x89;
    // Masked, with a mask that changes nothing.
    frame[1] = (byte) (0x80 | bytes.length);
    System.arraycopy(bytes, 0, frame, 6, bytes.length);
    try {
      socket.getOutputStream().write(frame);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The next frame of a WebSocket, such as {@code text ...} or {@code close 1000}. */
  String frame() {
    int first = read();
    if (first < 0) {
      return "";
    }
    int length = read();
    if (length == 126) {
      length = read() << 8 | read();
    }
    int opcode = first & 0x0f;
    if (opcode == 8) {
      int code = read() << 8 | read();
      bytes(length - 2);
      return "close " + code;
    }
    String type = switch (opcode) {
      case 1 -> "text ";
      case 2 -> "binary ";
      case 10 -> "pong ";
      default -> opcode + " ";
    };
    return type + bytes(length);
  }

  RawClient send(String method, String path, String body, String... headers) {
    var request = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n");
    for (var header : headers) {
      request.append(header).append("\r\n");
    }
    if (!body.isEmpty()) {
      request.append("Content-Type: application/json\r\n");
    }
    request.append("Content-Length: ").append(body.length()).append("\r\n\r\n").append(body);
    try {
      socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.ISO_8859_1));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return this;
  }

  /** The head of the answer, its lines joined by spaces. */
  String head() {
    var head = new StringBuilder();
    for (var line = textLine(); !line.isEmpty(); line = textLine()) {
      head.append(line).append(' ');
    }
    return head.toString().trim();
  }

  /** The next line of a chunked body; empty if none follows. */
  String line() {
    while (lines.isEmpty() && end == null) {
      chunk();
    }
    return lines.isEmpty() ? "" : lines.remove();
  }

  /** How it ends, whatever comes before. */
  End end() {
    while (end == null) {
      chunk();
    }
    return end;
  }

  /** What came after the last whole line. */
  String rest() {
    return partial.toString();
  }

  /** Reads up to this many bytes; fewer if the connection ends first. */
  String bytes(int count) {
    var bytes = new StringBuilder();
    while (bytes.length() < count) {
      int next = read();
      if (next < 0) {
        break;
      }
      bytes.append((char) next);
    }
    return bytes.toString();
  }

  /** Everything up to the end. */
  String all() {
    return bytes(Integer.MAX_VALUE);
  }

  /** Whether nothing has come that was not looked at. */
  boolean silent() {
    try {
      return in.available() == 0;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void chunk() {
    String size = textLine();
    if (size.isEmpty()) {
      end = end == null ? End.CUT : end;
      return;
    }
    int length = Integer.parseInt(size, 16);
    for (int i = 0; i < length; i++) {
      int next = read();
      if (next < 0) {
        return;
      }
      take((char) next);
    }
    textLine();
    if (length == 0) {
      end = End.COMPLETE;
    }
  }

  private void take(char next) {
    if (next == '\n') {
      lines.add(partial.toString());
      partial.setLength(0);
    } else {
      partial.append(next);
    }
  }

  private String textLine() {
    var line = new StringBuilder();
    for (int next = read(); next >= 0 && next != '\n'; next = read()) {
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  private int read() {
    try {
      int next = in.read();
      if (next < 0 && end == null) {
        end = End.CUT;
      }
      return next;
    } catch (EOFException gone) {
      end = End.CUT;
      return -1;
    } catch (SocketException reset) {
      end = End.RESET;
      return -1;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
