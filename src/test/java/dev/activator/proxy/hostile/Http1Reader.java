package dev.activator.proxy.hostile;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the messages of one direction of an HTTP/1 connection, piece by piece and strictly. */
final class Http1Reader {
  private enum State {
    HEAD,
    SIZED,
    CHUNK_SIZE,
    CHUNK,
    CHUNK_END,
    TRAILERS,
    TO_END,
    OTHER_PROTOCOL
  }

  private final boolean responses;
  /** Of the requests whose responses come. */
  final Deque<CallerScript.Method> methods = new ArrayDeque<>();
  final List<Message> messages = new ArrayList<>();
  /** After a 101. */
  final ByteArrayOutputStream otherProtocol = new ByteArrayOutputStream();
  /** Whether bytes were sent that may be taken for another request. */
  boolean mayHaveOthers;
  private byte[] unread = new byte[0];
  private State state = State.HEAD;
  private Message current = new Message();
  private long left;
  private List<String> lines = new ArrayList<>();

  Http1Reader(boolean responses) {
    this.responses = responses;
  }

  /** The one that has begun and is not complete. */
  Message current() {
    return current;
  }

  boolean isBetweenMessages() {
    return state == State.HEAD && unread.length == 0 && lines.isEmpty();
  }

  void read(byte[] bytes) {
    int before = unread.length;
    unread = Arrays.copyOf(unread, before + bytes.length);
    System.arraycopy(bytes, 0, unread, before, bytes.length);
    while (step()) {
      // Goes on as long as there is enough.
    }
  }

  /** The connection ended in order. */
  void end() {
    if (state == State.TO_END) {
      complete();
    }
  }

  /** The pod has agreed to another protocol, which follows the request. */
  void switchProtocol() {
    state = State.OTHER_PROTOCOL;
    read(new byte[0]);
  }

  private boolean step() {
    return switch (state) {
      case HEAD, TRAILERS -> line();
      case CHUNK_SIZE -> chunkSize();
      case CHUNK_END -> chunkEnd();
      case SIZED, CHUNK -> body((int) Math.min(left, unread.length));
      case TO_END -> body(unread.length);
      case OTHER_PROTOCOL -> {
        otherProtocol.writeBytes(take(unread.length));
        yield false;
      }
    };
  }

  private byte[] take(int length) {
    byte[] taken = Arrays.copyOf(unread, length);
    unread = Arrays.copyOfRange(unread, length, unread.length);
    return taken;
  }

  private @Nullable String nextLine() {
    for (int i = 0; i < unread.length; i++) {
      if (unread[i] == '\n') {
        String line = new String(take(i + 1), StandardCharsets.ISO_8859_1);
        if (!line.endsWith("\r\n")) {
          throw new AssertionError("a line without CRLF: " + line);
        }
        return line.substring(0, line.length() - 2);
      }
    }
    return null;
  }

  private boolean line() {
    String line = nextLine();
    if (line == null) {
      return false;
    }
    if (!line.isEmpty()) {
      lines.add(lines.isEmpty() && state == State.HEAD ? line : lowerCaseName(line));
      return true;
    }
    var all = lines;
    lines = new ArrayList<>();
    if (state == State.TRAILERS) {
      current.trailers = all;
      complete();
    } else {
      head(all);
    }
    return true;
  }

  private static String lowerCaseName(String line) {
    int colon = line.indexOf(':');
    if (colon < 1) {
      throw new AssertionError("not a field: " + line);
    }
    return line.substring(0, colon).toLowerCase(Locale.ROOT) + ": "
        + line.substring(colon + 1).strip();
  }

  private void head(List<String> all) {
    if (all.isEmpty() || responses != all.getFirst().startsWith("HTTP/1.")) {
      throw new AssertionError("not a message: " + all);
    }
    String start = all.getFirst();
    if (responses && status(start) < 200 && status(start) != 101) {
      current.interims.add(status(start));
      return;
    }
    if (current.interims.isEmpty()) {
      current = new Message();
    }
    current.start = start;
    current.fields = List.copyOf(all.subList(1, all.size()));
    current.hasHead = true;
    messages.add(current);
    body();
  }

  private void body() {
    String length = current.field("content-length");
    boolean chunked = current.field("transfer-encoding") != null;
    if (responses) {
      if (methods.isEmpty() && !mayHaveOthers) {
        throw new AssertionError("a response to nothing: " + current);
      }
      var method = methods.isEmpty() ? CallerScript.Method.GET : methods.poll();
      int status = current.status();
      if (status == 101) {
        current.complete = true;
        state = State.OTHER_PROTOCOL;
        return;
      }
      if (method == CallerScript.Method.HEAD || status == 204 || status == 304) {
        complete();
        return;
      }
    }
    if (chunked) {
      state = State.CHUNK_SIZE;
    } else if (length != null) {
      left = Long.parseLong(length);
      state = State.SIZED;
      if (left == 0) {
        complete();
      }
    } else if (responses) {
      state = State.TO_END;
    } else {
      complete();
    }
  }

  private boolean chunkSize() {
    String line = nextLine();
    if (line == null) {
      return false;
    }
    left = Long.parseLong(line, 16);
    state = left == 0 ? State.TRAILERS : State.CHUNK;
    return true;
  }

  private boolean chunkEnd() {
    String line = nextLine();
    if (line != null && !line.isEmpty()) {
      throw new AssertionError("a chunk that does not end: " + line);
    }
    state = line == null ? state : State.CHUNK_SIZE;
    return line != null;
  }

  private boolean body(int length) {
    current.body.writeBytes(take(length));
    left -= length;
    if (state == State.SIZED && left == 0) {
      complete();
      return true;
    }
    if (state == State.CHUNK && left == 0) {
      state = State.CHUNK_END;
      return true;
    }
    return false;
  }

  private void complete() {
    current.complete = true;
    current = new Message();
    state = State.HEAD;
  }

  private static int status(String start) {
    return Integer.parseInt(start.split(" ")[1]);
  }
}
