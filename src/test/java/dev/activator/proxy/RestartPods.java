package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.testing.integration.TestServiceImpl;
import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Pods for requests in HTTP/1, for gRPC and for WebSockets, which count what each request came to. */
final class RestartPods implements Closeable {
  static final RevisionId CHAT = new RevisionId("default", "chat-00001");
  static final RevisionId GRPC = new RevisionId("default", "grpc-00001");
  static final Metadata.Key<String> NUMBER = Metadata.Key.of("x-number",
      Metadata.ASCII_STRING_MARSHALLER);
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private final Map<Integer, Integer> deliveries = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ScriptedPod plain;
  private final ScriptedPod chat;
  private final Server grpc;

  RestartPods() throws IOException {
    plain = new ScriptedPod(this::answer);
    chat = new ScriptedPod(RestartPods::talk);
    grpc = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
        .addService(ServerInterceptors.intercept(new TestServiceImpl(timer), new Counting()))
        .build().start();
  }

  /** An activator that knows them. */
  Activator activator() throws IOException {
    var activator = new Activator();
    for (var id : new RevisionId[]{CHAT, GRPC}) {
      activator.revisions.put(Revision.of(id, 0));
    }
    activator.throttle.send(CHAT, chat.destination());
    activator.throttle.send(GRPC, new Destination("127.0.0.1", grpc.getPort()));
    activator.throttle.grow(plain.destination(), 1_000_000);
    return activator;
  }

  /** Fails unless each of this many requests came to a pod once. */
  void assertEachCameOnce(int requests) {
    assertThat(deliveries).isEqualTo(IntStream.range(0, requests).boxed()
        .collect(Collectors.toMap(number -> number, _ -> 1)));
  }

  private void came(String number) {
    deliveries.merge(Integer.parseInt(number), 1, Integer::sum);
  }

  private void answer(RawPeer caller) throws IOException {
    while (true) {
      var head = caller.readHead();
      came(head.header("X-Number"));
      caller.readBody(head);
      caller.send(OK);
    }
  }

  /** Ends once it has been told the end: a Close, masked, without a reason. */
  private static void talk(RawPeer caller) throws IOException {
    caller.readHead();
    caller.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
        + "Upgrade: websocket\r\n\r\n");
    caller.waitForEver().read(6);
  }

  @Override
  public void close() throws IOException {
    plain.close();
    chat.close();
    grpc.shutdownNow();
    timer.shutdownNow();
  }

  private final class Counting implements ServerInterceptor {
    @Override
    public <Q, S> ServerCall.Listener<Q> interceptCall(ServerCall<Q, S> call, Metadata headers,
        ServerCallHandler<Q, S> next) {
      var number = headers.get(NUMBER);
      if (number != null) {
        came(number);
      }
      return next.startCall(call, headers);
    }
  }
}
