package dev.activator.bench.soak;

import dev.activator.bench.soak.SoakCluster.Deployed;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requests over one connection to the activator, and how each of them ended. */
final class SoakConnection {
  /** What an end is called if the caller got something else than it should. */
  static final String WRONG = "a wrong response";

  /**
   * A request whose response is known.
   *
   * @param body null for a GET
   * @param fields further ones, name by value
   * @param expected the body of the response
   */
  record Request(Deployed revision, String id, String path, @Nullable String body,
      Map<String, String> fields, String expected, long begun) {
    /** One that a pod answers after a while. */
    static Request delayed(Deployed revision, String id, int millis) {
      return new Request(revision, id, "/delay/" + millis, null, Map.of(), id, System.nanoTime());
    }

    /** One whose body a pod sends back. */
    static Request echoed(Deployed revision, String id, String body) {
      return new Request(revision, id, "/echo", body, Map.of(), body, System.nanoTime());
    }

    Request with(String name, String value) {
      return new Request(revision, id, path, body, Map.of(name, value), expected, begun);
    }
  }

  interface Ended {
    void with(Request request, String end);
  }

  private SoakConnection() {}

  static String head1(Request request, String... more) {
    var head = new StringBuilder((request.body == null ? "GET " : "POST ") + request.path
        + " HTTP/1.1\r\nHost: soak\r\nKnative-Serving-Namespace: " + SoakCluster.NAMESPACE
        + "\r\nKnative-Serving-Revision: " + request.revision.name() + "\r\n" + SoakPod.ID + ": "
        + request.id + "\r\n");
    request.fields.forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
    for (var line : more) {
      head.append(line).append("\r\n");
    }
    return head.append("\r\n").toString();
  }

  static String[] head2(Request request) {
    var fields = new ArrayList<>(List.of(":method", request.body == null ? "GET" : "POST",
        ":scheme", "http", ":authority", "soak", ":path", request.path,
        "knative-serving-namespace", SoakCluster.NAMESPACE, "knative-serving-revision",
        request.revision.name(), SoakPod.ID, request.id));
    request.fields.forEach((name, value) -> fields.addAll(List.of(name, value)));
    return fields.toArray(String[]::new);
  }

  /** Sends a request and reads its response; says whether the connection can be used again. */
  static boolean over1(RawPeer peer, Request request, Ended ended) {
    boolean begun = false;
    try {
      peer.send(request.body == null
          ? head1(request)
          : head1(request, "Content-Length: " + request.body.length()) + request.body);
      var head = peer.readHead();
      begun = true;
      var body = peer.readBody(head);
      ended.with(request, end(head.start().split(" ")[1], head.header("K-Activator-Reason"),
          request, head.header(SoakPod.ID), body));
      return !"close".equalsIgnoreCase(head.header("Connection"));
    } catch (SocketTimeoutException e) {
      ended.with(request, "no response in two minutes");
    } catch (IOException e) {
      ended.with(request, begun ? "broken off" : "no response");
    }
    return false;
  }

  private static final class Open {
    private final Request request;
    private final StringBuilder body = new StringBuilder();
    private String status = "";
    private @Nullable String reason;
    private @Nullable String id;

    Open(Request request) {
      this.request = request;
    }
  }

  /** Sends requests at once, and reads their responses; says whether the connection can be used again. */
  static boolean over2(RawHttp2 http2, int firstStream, List<Request> requests, Ended ended) {
    var open = new HashMap<Integer, Open>();
    boolean goesOn = true;
    try {
      int stream = firstStream;
      for (var request : requests) {
        open.put(stream, new Open(request));
        http2.headers(stream, request.body == null, head2(request));
        if (request.body != null) {
          http2.data(stream, true, request.body);
        }
        stream += 2;
      }
      while (!open.isEmpty()) {
        var frame = http2.read();
        goesOn &= frame.type() != RawHttp2.GOAWAY;
        var at = open.get(frame.stream());
        if (at == null) {
          continue;
        }
        switch (frame.type()) {
          case RawHttp2.HEADERS -> head(at, frame);
          case RawHttp2.DATA -> {
            at.body.append(frame.text());
            if (frame.payload().length > 0) {
              http2.window(0, frame.payload().length);
            }
          }
          case RawHttp2.RST_STREAM -> {
            open.remove(frame.stream());
            ended.with(at.request, at.status.isEmpty() ? "no response" : "broken off");
            continue;
          }
          default -> {
            continue;
          }
        }
        if (frame.ends()) {
          open.remove(frame.stream());
          ended.with(at.request, end(at.status, at.reason, at.request, at.id, at.body.toString()));
        }
      }
      return goesOn;
    } catch (IOException e) {
      for (var at : open.values()) {
        ended.with(at.request, e instanceof SocketTimeoutException
            ? "no response in two minutes"
            : at.status.isEmpty() ? "no response" : "broken off");
      }
    }
    return false;
  }

  private static void head(Open at, RawHttp2.Frame frame) {
    var status = frame.field(":status");
    if (status != null) {
      at.status = status;
      at.reason = frame.field("k-activator-reason");
      at.id = frame.field(SoakPod.ID);
    }
  }

  private static String end(String status, @Nullable String reason, Request request,
      @Nullable String id, String body) {
    if (!status.equals("200")) {
      return reason == null ? status : status + " " + reason;
    }
    return request.id.equals(id) && request.expected.equals(body) ? status : WRONG;
  }

  /** A masked WebSocket frame of less than 126 bytes, the mask being zero. */
  static byte[] webSocketFrame(int opcode, String text) {
    var payload = text.getBytes(StandardCharsets.ISO_8859_1);
    var frame = new byte[6 + payload.length];
    frame[0] = (byte) (0x80 | opcode);
    frame[1] = (byte) (0x80 | payload.length);
    System.arraycopy(payload, 0, frame, 6, payload.length);
    return frame;
  }
}
