package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.testing.integration.EmptyProtos.Empty;
import io.grpc.testing.integration.TestServiceGrpc;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Activators that are replaced one after the other, as a Deployment does, under callers. */
@ExtendWith(LeaksAtTheEnd.class)
class RollingRestartTest {
  private static final int A_SECOND = 500;
  private static final int REQUESTS = 2_500;
  /** Between two steps. */
  private static final int SOME = 500;
  private static final int CALLERS_OF_EACH_KIND = 10;
  private static final int STREAMS_OF_EACH_KIND = 3;
  private static final String GOING_AWAY = "\u0088\u0002\u0003\u00e9";
  private static final String MASKED_CLOSE = "\u0088\u0080abcd";

  private final ReadyActivators service = new ReadyActivators();
  private RestartPods pods;

  @BeforeEach
  void start() throws IOException {
    pods = new RestartPods();
  }

  @AfterEach
  void stop() throws IOException {
    pods.close();
  }

  @AfterAll
  static void nothingLeaked() {
    Activator.assertNoLeak();
  }

  /** Keeps its connection until it is told that it ends, and not a request longer. */
  private final class KeepingCaller implements SteadyCallers.Caller {
    private ReadyActivators.Kept connection;

    @Override
    public void call(int number) throws IOException {
      if (connection == null) {
        connection = service.connect();
      }
      var peer = connection.peer();
      Activator.request(peer, "POST / HTTP/1.1", "Content-Length: 3", "X-Number: " + number);
      peer.send("abc");
      var head = peer.readHead();
      peer.readBody(head);
      if ("close".equals(head.header("Connection"))) {
        close();
      }
      assertThat(head.start()).isEqualTo("HTTP/1.1 200 OK");
    }

    @Override
    public void close() throws IOException {
      if (connection != null) {
        service.leave(connection);
        connection = null;
      }
    }
  }

  /** Keeps its connection until a GOAWAY. Waits for one, as a busy machine may take long to open it. */
  private final class GrpcCaller implements SteadyCallers.Caller {
    private final ManagedChannel channel = OkHttpChannelBuilder.forAddress("127.0.0.1", 1)
        .usePlaintext().socketFactory(service.sockets()).build();

    @Override
    public void call(int number) {
      var headers = OpenStream.headers();
      headers.put(RestartPods.NUMBER, Integer.toString(number));
      TestServiceGrpc.newBlockingStub(channel)
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
          .withWaitForReady().withDeadlineAfter(2, TimeUnit.MINUTES)
          .emptyCall(Empty.getDefaultInstance());
    }

    @Override
    public void close() {
      channel.shutdownNow();
    }
  }

  /** An activator that is ready, with WebSockets and gRPC streams that go on for as long as they may. */
  private final class Site {
    private final Activator activator = pods.activator();
    private final List<RawPeer> sockets = new ArrayList<>();
    private final List<OpenStream> streams = new ArrayList<>();

    Site() throws Exception {
      for (int i = 0; i < STREAMS_OF_EACH_KIND; i++) {
        sockets.add(webSocket());
        streams.add(OpenStream.to(activator));
      }
      service.ready(activator);
    }

    private RawPeer webSocket() throws IOException {
      var socket = activator.connect().sendHead("GET / HTTP/1.1", "Host: chat.example",
          "Knative-Serving-Namespace: default", "Knative-Serving-Revision: chat-00001",
          "Connection: Upgrade", "Upgrade: websocket");
      assertThat(socket.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      return socket;
    }

    /** As the process does it: new connections go elsewhere, those kept are left, the rest drains. */
    void end() throws Exception {
      service.unready(activator);
      activator.server.announceDrain();
      WireTest.eventually(() -> assertThat(service.kept(activator)).isZero());
      var drained = activator.server.drain().toCompletableFuture();

      for (var stream : streams) {
        stream.endInOrder();
      }
      for (var socket : sockets) {
        assertThat(socket.read(GOING_AWAY.length())).isEqualTo(GOING_AWAY);
        socket.send(MASKED_CLOSE);
        assertThat(socket.readToEnd()).isEmpty();
        socket.close();
      }
      drained.get(120, TimeUnit.SECONDS);
      WireTest.eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
      activator.close();
    }
  }

  @Test
  void losesNoRequestAt500ASecondAndEndsStreamsInOrder() throws Exception {
    // given two activators under callers that keep their connections
    var first = new Site();
    var second = new Site();
    var callers = new ArrayList<SteadyCallers.Caller>();
    for (int i = 0; i < CALLERS_OF_EACH_KIND; i++) {
      callers.add(new KeepingCaller());
      callers.add(new GrpcCaller());
    }
    try (var calling = new SteadyCallers(callers, A_SECOND)) {
      calling.awaitAnswered(SOME);

      // when one after the other is replaced
      first.end();
      var third = new Site();
      calling.awaitAnswered(calling.answered() + SOME);
      second.end();
      calling.awaitAnswered(Math.max(REQUESTS, calling.answered() + SOME));

      // then every request was answered well, and came to a pod once
      int requests = calling.finish();
      pods.assertEachCameOnce(requests);
      third.end();
    }
  }
}
