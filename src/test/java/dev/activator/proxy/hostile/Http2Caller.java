package dev.activator.proxy.hostile;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.network.SimulatedPeer;
import dev.activator.testing.network.SimulatedPeer.End;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Sends requests on streams of one connection, in any order. */
final class Http2Caller extends Caller {
  private static final int MANY = 15;
  private static final String END_OF_HEAD = "\r\n\r\n";

  private final Http2Reader reader;
  private final Random random;
  private final int window;
  private boolean upgrading;
  private byte[] beforeHttp2 = new byte[0];

  /** @param upgrading whether the first request is sent in HTTP/1.1 */
  Http2Caller(SimulatedPeer peer, boolean upgrading, int window, Random random,
      Consumer<String> story) {
    super(peer, story);
    this.upgrading = upgrading;
    this.random = random;
    this.window = window;
    this.reader = new Http2Reader(peer::send, true, true, window);
    if (!upgrading) {
      open();
    }
  }

  private void open() {
    peer.send(Contents.ascii(Http2Reader.PREFACE));
    reader.settings(RawHttp2.INITIAL_WINDOW_SIZE, window);
  }

  private static int stream(Call call) {
    return 2 * call.index + 1;
  }

  @Override
  List<Call> ready() {
    if (upgrading) {
      return List.of(calls.getFirst());
    }
    // Stream numbers only grow.
    var ready = new ArrayList<Call>();
    boolean last = false;
    for (var call : calls) {
      if (!last) {
        ready.add(call);
      }
      last |= !call.hasBegun();
    }
    Collections.shuffle(ready, random);
    return ready;
  }

  @Override
  boolean maySend(Call call) {
    if (upgrading && call.hasBegun()) {
      return false;
    }
    if (call.response.reset != Message.NOT_RESET) {
      return false;
    }
    return !call.script.expects() || call.script.early() || call.done != 1
        || call.response.interims.contains(100) || call.response.hasHead;
  }

  @Override
  void send(Call call) {
    var script = call.script;
    int part = call.done - 1;
    if (call.done == 0 && upgrading) {
      peer.send(Contents.ascii(upgradeHead(call)));
      return;
    }
    if (call.done == 0) {
      reader.headers(stream(call), !script.hasBody(), head(call));
    } else if (part < script.parts()) {
      if (script.emptyParts()) {
        reader.data(stream(call), false, new byte[0]);
      }
      boolean last = part == script.parts() - 1 && script.completes() && !script.trailers()
          && script.sized();
      reader.data(stream(call), last, Contents.request(call.index, part * script.partBytes(),
          (part + 1) * script.partBytes()));
    } else if (script.trailers()) {
      reader.headers(stream(call), true, Contents.TRAILER, Contents.trailer(call.index));
    } else if (!script.sized()) {
      reader.data(stream(call), true, new byte[0]);
    }
    reader.flood(script.floods());
    if (script.floods() > MANY) {
      // It takes no streams of ours, of which there are none; its own go on.
      reader.goAway(0);
    }
  }

  private static String[] head(Call call) {
    var script = call.script;
    var fields = new ArrayList<>(List.of(":method", script.method().name(), ":scheme", "http",
        ":path", "/" + call.index, ":authority", "hello.example", "knative-serving-namespace",
        "default", "knative-serving-revision", "hello-00001"));
    if (script.hasBody() && script.sized()) {
      fields.addAll(List.of("content-length",
          String.valueOf(script.bodyBytes() + (script.completes() ? 0 : 10))));
    }
    if (script.expects()) {
      fields.addAll(List.of("expect", "100-continue"));
    }
    if (script.deadlineOver()) {
      fields.addAll(List.of("grpc-timeout", "1n"));
    }
    if (script.method() == CallerScript.Method.PUT) {
      fields.addAll(List.of("idempotency-key", "k" + call.index));
    }
    return fields.toArray(String[]::new);
  }

  private String upgradeHead(Call call) {
    byte[] settings = {0, 4, (byte) (window >> 24), (byte) (window >> 16), (byte) (window >> 8),
        (byte) window};
    return call.script.method() + " /" + call.index + " HTTP/1.1\r\nHost: hello.example\r\n"
        + "Knative-Serving-Namespace: default\r\nKnative-Serving-Revision: hello-00001\r\n"
        + (call.script.deadlineOver() ? "grpc-timeout: 1n\r\n" : "")
        + (call.script.method() == CallerScript.Method.PUT ? "Idempotency-Key: k\r\n" : "")
        + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "
        + Base64.getUrlEncoder().withoutPadding().encodeToString(settings) + END_OF_HEAD;
  }

  @Override
  void resetStream(Call call) {
    reader.number(RawHttp2.RST_STREAM, stream(call), call.script.code());
  }

  @Override
  void readBytes(byte[] bytes) {
    byte[] frames = upgrading ? upgraded(bytes) : bytes;
    if (!upgrading) {
      reader.read(frames);
      for (var call : calls) {
        var message = reader.messages.get(stream(call));
        if (message != null) {
          call.response = message;
        }
      }
    }
  }

  /** The bytes behind the 101. */
  private byte[] upgraded(byte[] bytes) {
    byte[] all = new byte[beforeHttp2.length + bytes.length];
    System.arraycopy(beforeHttp2, 0, all, 0, beforeHttp2.length);
    System.arraycopy(bytes, 0, all, beforeHttp2.length, bytes.length);
    beforeHttp2 = all;
    String text = new String(all, java.nio.charset.StandardCharsets.ISO_8859_1);
    int end = text.indexOf(END_OF_HEAD);
    if (end < 0) {
      return all;
    }
    if (!text.startsWith("HTTP/1.1 101 ")) {
      throw new AssertionError("no upgrade to HTTP/2: " + text);
    }
    upgrading = false;
    open();
    return java.util.Arrays.copyOfRange(all, end + END_OF_HEAD.length(), all.length);
  }

  @Override
  void connectionEnded(End end) {
    // Streams that are not complete are broken off.
  }

  @Override
  byte[] otherProtocol() {
    return new byte[0];
  }
}
