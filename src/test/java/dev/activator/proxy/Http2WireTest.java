package dev.activator.proxy;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Callers that know that HTTP/2 without TLS is spoken here, and pods that speak it. */
abstract class Http2WireTest extends WireTest {
  static final String[] TO_HELLO = {":method", "GET", ":scheme", "http", ":authority",
      "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
      "hello-00001"};

  final BlockingQueue<RawHttp2.Frame> frames = new LinkedBlockingQueue<>();

  RawHttp2 connect(int... settings) throws IOException {
    return RawHttp2.caller(activator.connect(), settings);
  }

  static String[] get(String path, String... more) {
    return head("GET", path, more);
  }

  static String[] head(String method, String path, String... more) {
    var all = new ArrayList<>(List.of(":path", path));
    all.addAll(List.of(TO_HELLO));
    all.set(all.indexOf(":method") + 1, method);
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  /** A pod that speaks HTTP/2 and keeps all frames that come, and permits for it. */
  ScriptedPod pod(LocalResponse answer, int... settings) throws IOException {
    return pod(caller -> {
      var pod = RawHttp2.pod(caller, settings);
      while (true) {
        var frame = pod.read();
        frames.add(frame);
        answer.to(pod, frame);
      }
    });
  }

  @FunctionalInterface
  interface LocalResponse {
    void to(RawHttp2 pod, RawHttp2.Frame frame) throws IOException;
  }

  static void ok(RawHttp2 pod, RawHttp2.Frame frame) throws IOException {
    if (frame.ends()) {
      pod.headers(frame.stream(), false, ":status", "200", "x-a", "b");
      pod.data(frame.stream(), true, "ok");
    }
  }
}
