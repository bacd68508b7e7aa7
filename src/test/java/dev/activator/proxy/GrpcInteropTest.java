package dev.activator.proxy;

import dev.activator.revision.Destination;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.testing.integration.TestServiceClient;
import io.grpc.testing.integration.TestServiceImpl;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The standard cases of gRPC's interoperability tests, its own client and server at both ends. */
class GrpcInteropTest extends WireTest {
  private ScheduledExecutorService timer;
  private Server pod;

  @Override
  ProxySettings settings() {
    return Activator.settings(_ -> Activator.HELLO, new Addressing.ByPod(),
        Duration.ofSeconds(60));
  }

  @BeforeEach
  void serve() throws Exception {
    timer = Executors.newSingleThreadScheduledExecutor();
    pod = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
        .maxInboundMessageSize(32 << 20).addService(ServerInterceptors
            .intercept(new TestServiceImpl(timer), TestServiceImpl.interceptors()))
        .build().start();
    activator.throttle.grow(new Destination("127.0.0.1", pod.getPort()), 100);
  }

  @AfterEach
  void stop() {
    pod.shutdownNow();
    timer.shutdownNow();
  }

  // Those that the server in Java does not offer are left out: cacheable_unary,
  // client_compressed_unary and client_compressed_streaming.
  @ParameterizedTest(name = "AH-21 {0}")
  @ValueSource(strings = {"empty_unary", "large_unary", "server_compressed_unary",
      "client_streaming", "server_streaming", "server_compressed_streaming", "ping_pong",
      "empty_stream", "custom_metadata", "status_code_and_message", "special_status_message",
      "unimplemented_method", "unimplemented_service", "cancel_after_begin",
      "cancel_after_first_response", "timeout_on_sleeping_server", "very_large_request"})
  void interoperates(String testCase) throws Exception {
    var client = new TestServiceClient();
    call(client, "parseArgs", (Object) new String[]{"--server_host=127.0.0.1",
        "--server_port=" + activator.port, "--use_tls=false", "--use_okhttp=true",
        "--test_case=" + testCase});
    call(client, "setUp");
    try {
      call(client, "run");
    } finally {
      call(client, "tearDown");
    }
  }

  /** The client is made to be a program: what it does one cannot call from outside. */
  private static void call(TestServiceClient client, String name, Object... arguments)
      throws Exception {
    var types = arguments.length == 0 ? new Class<?>[0] : new Class<?>[]{String[].class};
    var method = TestServiceClient.class.getDeclaredMethod(name, types);
    method.setAccessible(true);
    try {
      method.invoke(client, arguments);
    } catch (InvocationTargetException failure) {
      throw failure.getCause() instanceof Exception cause ? cause : failure;
    }
  }
}
