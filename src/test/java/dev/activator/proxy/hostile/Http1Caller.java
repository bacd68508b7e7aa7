package dev.activator.proxy.hostile;

import dev.activator.testing.faults.Call;
import dev.activator.testing.network.SimulatedPeer;
import dev.activator.testing.network.SimulatedPeer.End;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.function.Consumer;

/** Sends one request after another, without waiting for responses. */
final class Http1Caller extends Caller {
  private static final List<String> EARLY = List.of("HELLO-EARLY", "\u0081\u0085abcdefghi",
      "GET /x HTTP/1.1\r\nHost: y\r\nX: par", "GET /x HTTP/1.1\r\nHost: y\r\n\r\nTAIL");

  private final Http1Reader reader = new Http1Reader(true);
  private final boolean http10;
  private final ByteArrayOutputStream later = new ByteArrayOutputStream();
  private boolean tunnelled;
  private int answered;

  Http1Caller(SimulatedPeer peer, boolean http10, Consumer<String> story) {
    super(peer, story);
    this.http10 = http10;
  }

  @Override
  List<Call> ready() {
    for (int i = 0; i < calls.size(); i++) {
      var call = calls.get(i);
      boolean leaves = !call.script.stays() && !call.ended && i == calls.size() - 1;
      if (!call.isSent() || leaves || !call.script.isWhole()) {
        return List.of(call);
      }
      if (call.script.upgrades()) {
        tunnel(call);
        return List.of();
      }
      if (!call.script.stays() && !call.ended) {
        return List.of(call);
      }
    }
    return List.of();
  }

  private void tunnel(Call call) {
    if (!tunnelled && call.response.hasHead && call.response.status() == 101) {
      tunnelled = true;
      tell(call, "sends bytes of the other protocol");
      later.writeBytes(Contents.request(call.index, 0, 50));
      peer.send(later.toByteArray());
    }
  }

  /** Bytes that came before the 101, if any. */
  static byte[] early(CallerScript script) {
    return script.upgrades() && script.early()
        ? Contents.ascii(EARLY.get(script.code() % EARLY.size()))
        : new byte[0];
  }

  byte[] later() {
    return later.toByteArray();
  }

  @Override
  boolean maySend(Call call) {
    if (!call.script.expects() || call.script.early() || http10 || call.done != 1) {
      return true;
    }
    return calls.indexOf(call) == answered
        && reader.current().interims.contains(100) && !call.response.hasHead;
  }

  @Override
  void send(Call call) {
    var script = call.script;
    int part = call.done - 1;
    if (call.done == 0) {
      reader.methods.add(script.method());
      peer.send(Contents.ascii(head(call)));
      if (script.upgrades() && script.early()) {
        reader.mayHaveOthers = true;
        peer.send(early(script));
      }
    } else if (part < script.parts()) {
      byte[] bytes = Contents.request(call.index, part * script.partBytes(),
          (part + 1) * script.partBytes());
      peer.send(isSized(script) ? bytes : Contents.chunk(bytes));
    } else if (!isSized(script)) {
      peer.send(Contents.ascii("0\r\n" + (script.trailers()
          ? Contents.TRAILER + ": " + Contents.trailer(call.index) + "\r\n"
          : "") + "\r\n"));
    }
  }

  private boolean isSized(CallerScript script) {
    return script.sized() || http10;
  }

  private String head(Call call) {
    var script = call.script;
    var head = new StringBuilder(script.method() + " /" + call.index + " HTTP/1."
        + (http10 ? 0 : 1) + "\r\nHost: hello.example\r\n"
        + "Knative-Serving-Namespace: default\r\nKnative-Serving-Revision: hello-00001\r\n");
    if (script.hasBody()) {
      // A body that does not end announces more than it sends.
      head.append(isSized(script)
          ? "Content-Length: " + (script.bodyBytes() + (script.completes() ? 0 : 10)) + "\r\n"
          : "Transfer-Encoding: chunked\r\n");
    }
    if (script.expects()) {
      head.append("Expect: 100-continue\r\n");
    }
    if (script.deadlineOver()) {
      head.append("grpc-timeout: 1n\r\n");
    }
    if (script.method() == CallerScript.Method.PUT) {
      head.append("Idempotency-Key: k").append(call.index).append("\r\n");
    }
    if (script.upgrades()) {
      head.append("Connection: Upgrade\r\nUpgrade: echo\r\n");
    }
    return head.append("\r\n").toString();
  }

  @Override
  void resetStream(Call call) {
    throw new IllegalStateException("no streams in HTTP/1");
  }

  @Override
  void readBytes(byte[] bytes) {
    reader.read(bytes);
    assign();
  }

  private void assign() {
    while (answered < reader.messages.size() && answered < calls.size()) {
      calls.get(answered).response = reader.messages.get(answered);
      if (!reader.messages.get(answered).complete) {
        return;
      }
      answered++;
    }
  }

  @Override
  void connectionEnded(End end) {
    if (end == End.FIN) {
      reader.end();
    }
    assign();
  }

  @Override
  byte[] otherProtocol() {
    return reader.otherProtocol.toByteArray();
  }
}
