package dev.activator.proxy.hostile;

import dev.activator.testing.faults.Call;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.network.SimulatedPeer;
import dev.activator.testing.network.SimulatedPeer.End;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Sends requests on streams of one connection, in any order. */
final class Http2Caller extends Caller {
  private static final int MANY = 15;

  private final Http2Reader reader;
  private final Random random;

  Http2Caller(SimulatedPeer peer, int window, Random random, Consumer<String> story) {
    super(peer, story);
    this.random = random;
    this.reader = new Http2Reader(peer::send, true, true, window);
    peer.send(Contents.ascii(Http2Reader.PREFACE));
    reader.settings(RawHttp2.INITIAL_WINDOW_SIZE, window);
  }

  private static int stream(Call call) {
    return 2 * call.index + 1;
  }

  @Override
  List<Call> ready() {
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

  @Override
  void resetStream(Call call) {
    reader.number(RawHttp2.RST_STREAM, stream(call), call.script.code());
  }

  @Override
  void readBytes(byte[] bytes) {
    reader.read(bytes);
    for (var call : calls) {
      var message = reader.messages.get(stream(call));
      if (message != null) {
        call.response = message;
      }
    }
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
