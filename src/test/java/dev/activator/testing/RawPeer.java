package dev.activator.testing;

import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * One end of a TCP connection, driven by hand: what is malformed, half closed or slow is really so.
 * Reading waits two minutes at most, or for ever once {@link #waitForEver} was called.
 */
public final class RawPeer implements Closeable {
  private static final int WAIT_MILLIS = 120_000;

  /** The first line of a message, and the header lines after it, as they came. */
  public record Head(String start, List<String> lines) {
    /** All values of a header, in order. */
    public List<String> all(String name) {
      return lines.stream()
          .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
          .map(line -> line.substring(name.length() + 1).strip()).toList();
    }

    /** The only value of a header; null if there is none. */
    public String header(String name) {
      var values = all(name);
      if (values.size() > 1) {
        throw new AssertionError(name + " is there more than once: " + lines);
      }
      return values.isEmpty() ? null : values.getFirst();
    }
  }

  private final Socket socket;
  private final Socket under;
  private final InputStream in;
  private volatile boolean received;
  private volatile boolean http2;
  private final OutputStream out;

  public RawPeer(Socket socket) throws IOException {
    this(socket, socket);
  }

  private RawPeer(Socket socket, Socket under) throws IOException {
    this.socket = socket;
    this.under = under;
    socket.setSoTimeout(WAIT_MILLIS);
    socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(new FilterInputStream(socket.getInputStream()) {
      @Override
      public int read(byte[] to, int from, int length) throws IOException {
        int read = super.read(to, from, length);
        received |= read > 0 && !http2;
        return read;
      }
    });
    this.out = socket.getOutputStream();
  }

  public static RawPeer connect(int port) throws IOException {
    return new RawPeer(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** One whose kernel takes little that is not read. */
  public static RawPeer connectWithSmallBuffer(int port) throws IOException {
    var socket = new Socket();
    socket.setReceiveBufferSize(4 << 10);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return new RawPeer(socket);
  }

  /** The side of a server, over TLS; its handshake comes with the first byte that is read. */
  public static RawPeer overTls(Socket accepted, SSLContext shown, String... protocols)
      throws IOException {
    var tls = (SSLSocket) shown.getSocketFactory().createSocket(accepted, null, true);
    var parameters = tls.getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    tls.setSSLParameters(parameters);
    return new RawPeer(tls, accepted);
  }

  /** The side of a caller, over TLS. */
  public static RawPeer connectOverTls(int port, SSLContext trusting, String... protocols)
      throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), port);
    var tls = (SSLSocket) trusting.getSocketFactory().createSocket(socket, "localhost", port,
        true);
    var parameters = tls.getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    tls.setSSLParameters(parameters);
    return new RawPeer(tls, socket);
  }

  /** Reading waits for as long as the other side says nothing. */
  public RawPeer waitForEver() throws IOException {
    socket.setSoTimeout(0);
    return this;
  }

  /** Whether the other side has sent anything that was read; in HTTP/2, a head. */
  boolean received() {
    return received;
  }

  /** Frames follow. Those that open a connection say nothing of a request. */
  void speaksHttp2() {
    http2 = true;
    received = false;
  }

  void headCame() {
    received = true;
  }

  /** What it runs on, for who goes on in another way. */
  public Socket socket() {
    return socket;
  }

  /** The TLS of it. */
  public SSLSocket tls() {
    return (SSLSocket) socket;
  }

  public int localPort() {
    return socket.getLocalPort();
  }

  /** Sends text as ISO 8859-1, a byte a character. */
  public RawPeer send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawPeer send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
    return this;
  }

  /** Sends lines, each with its end, and the empty line that ends a head. */
  public RawPeer sendHead(String... lines) throws IOException {
    return send(String.join("\r\n", lines) + "\r\n\r\n");
  }

  public Head readHead() throws IOException {
    String start = readLine();
    var lines = new ArrayList<String>();
    for (String line = readLine(); !line.isEmpty(); line = readLine()) {
      lines.add(line);
    }
    return new Head(start, lines);
  }

  public String readLine() throws IOException {
    var line = new ByteArrayOutputStream();
    for (int b = next(); b != '\n'; b = next()) {
      line.write(b);
    }
    String text = line.toString(StandardCharsets.ISO_8859_1);
    if (!text.endsWith("\r")) {
      throw new AssertionError("a line without a carriage return: " + text);
    }
    return text.substring(0, text.length() - 1);
  }

  private int next() throws IOException {
    int b = in.read();
    if (b < 0) {
      throw new IOException("the connection ended");
    }
    return b;
  }

  public String read(int bytes) throws IOException {
    byte[] all = in.readNBytes(bytes);
    if (all.length < bytes) {
      throw new IOException("the connection ended after " + all.length + " of " + bytes);
    }
    return new String(all, StandardCharsets.ISO_8859_1);
  }

  /** The next bytes, which are not read by this. */
  public String peek(int bytes) throws IOException {
    in.mark(bytes);
    String next = read(bytes);
    in.reset();
    return next;
  }

  /** The body of a message with a length or in chunks; empty without either. */
  public String readBody(Head head) throws IOException {
    if (head.header("Transfer-Encoding") != null) {
      var body = new StringBuilder();
      for (String chunk = readChunk(); !chunk.isEmpty(); chunk = readChunk()) {
        body.append(chunk);
      }
      readHeadLines();
      return body.toString();
    }
    String length = head.header("Content-Length");
    return length == null ? "" : read(Integer.parseInt(length));
  }

  /** One chunk; empty if it is the last, after which come the trailers. */
  public String readChunk() throws IOException {
    int size = Integer.parseInt(readLine(), 16);
    if (size == 0) {
      return "";
    }
    String chunk = read(size);
    readLine();
    return chunk;
  }

  /** Lines up to an empty one. */
  public List<String> readHeadLines() throws IOException {
    var lines = new ArrayList<String>();
    for (String line = readLine(); !line.isEmpty(); line = readLine()) {
      lines.add(line);
    }
    return lines;
  }

  /** What comes until the connection ends in order. */
  public String readToEnd() throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
  }

  /** Waits for the other side to end the connection, in order or not, and drops what comes before. */
  public void awaitEnd() throws IOException {
    try {
      in.skip(Long.MAX_VALUE);
      while (in.read() >= 0) {
        in.skip(Long.MAX_VALUE);
      }
    } catch (SocketTimeoutException stillOpen) {
      throw new AssertionError("the connection is still open", stillOpen);
    } catch (SocketException reset) {
      // An end as well.
    }
  }

  /** Reads this many bytes at most, and returns how many came before the connection ended. */
  public long drain(long most) throws IOException {
    byte[] buffer = new byte[64 << 10];
    long all = 0;
    while (all < most) {
      int read = in.read(buffer, 0, (int) Math.min(buffer.length, most - all));
      if (read < 0) {
        break;
      }
      all += read;
    }
    return all;
  }

  /** Says that no more will be sent. */
  public void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Ends the connection with a reset. */
  public void reset() throws IOException {
    under.setSoLinger(true, 0);
    under.close();
  }

  /** Ends the connection in order, but TLS without a word. */
  public void cut() throws IOException {
    under.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
