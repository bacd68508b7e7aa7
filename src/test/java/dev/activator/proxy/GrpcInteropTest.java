package dev.activator.proxy;

import dev.activator.revision.Destination;
import dev.activator.testing.Authority;
import dev.activator.testing.TestRevisions;
import dev.activator.tls.PodTls;
import dev.activator.tls.ServerCertificate.CertificateFiles;
import dev.activator.tls.ServerTlsSettings;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptors;
import io.grpc.TlsServerCredentials;
import io.grpc.testing.TlsTesting;
import io.grpc.testing.integration.TestServiceClient;
import io.grpc.testing.integration.TestServiceImpl;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The standard cases of gRPC's interoperability tests, its own client and server at both ends. */
@ParameterizedClass(name = "{0}")
@EnumSource
class GrpcInteropTest extends WireTest {
  /** Which part of the way is over TLS. */
  enum Way {
    IN_CLEAR,
    OVER_TLS_TO_THE_POD,
    OVER_TLS_ALL_THE_WAY
  }

  /** Its client in OkHttp asks for no newer one, which callers have to be allowed. */
  private static final ServerTlsSettings OLD_TLS = new ServerTlsSettings(List.of("TLSv1.2"),
      List.of(),
      List.of(), null);

  private final Way way;
  private final PodTls tls = new PodTls(TestRevisions.unused(), UnaryOperator.identity());
  @TempDir
  private Path files;
  private ScheduledExecutorService timer;
  private Server pod;
  private List<String> where;

  GrpcInteropTest(Way way) {
    this.way = way;
  }

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.hosts((_, _, _) -> Activator.HELLO);
  }

  @Override
  PodTls tls() {
    return tls;
  }

  @BeforeEach
  void serve() throws Exception {
    timer = Executors.newSingleThreadScheduledExecutor();
    pod = Grpc.newServerBuilderForPort(0, way == Way.IN_CLEAR
        ? InsecureServerCredentials.create()
        : secured())
        .maxInboundMessageSize(32 << 20)
        .addService(ServerInterceptors.intercept(new TestServiceImpl(timer),
            TestServiceImpl.interceptors()))
        .build().start();
    activator.throttle.grow(new Destination("127.0.0.1", pod.getPort()), 100);
    where = way == Way.OVER_TLS_ALL_THE_WAY
        ? List.of("--use_tls=true", "--use_test_ca=true",
            "--server_host_override=foo.test.google.fr", "--server_port=" + listenOverTls())
        : List.of("--use_tls=false", "--server_port=" + activator.port);
  }

  /** A pod's certificate, from an authority that the activator believes. */
  private ServerCredentials secured() throws GeneralSecurityException, IOException {
    var authority = Authority.named("one");
    tls.trust(List.of(authority.certificate()));
    tls.require();
    var shown = authority.issue("kn-user-default", PodTls.SERVER_NAME);
    return TlsServerCredentials.create(stream(shown.pem()), stream(shown.keyPem()));
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
  }

  /** With the certificate that gRPC's client has been told to believe. */
  private int listenOverTls() throws IOException {
    var chain = files.resolve("tls.crt");
    var key = files.resolve("tls.key");
    try (var certificate = TlsTesting.loadCert("server1.pem");
        var secret = TlsTesting.loadCert("server1.key")) {
      Files.copy(certificate, chain);
      Files.copy(secret, key);
    }
    return activator.server.listen("127.0.0.1", 0,
        CertificateFiles.read(chain, key, OLD_TLS).certificate());
  }

  @AfterEach
  void stop() {
    pod.shutdownNow();
    timer.shutdownNow();
  }

  // Those that the server in Java does not offer are left out: cacheable_unary,
  // client_compressed_unary and client_compressed_streaming.
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"empty_unary", "large_unary", "server_compressed_unary",
      "client_streaming", "server_streaming", "server_compressed_streaming", "ping_pong",
      "empty_stream", "custom_metadata", "status_code_and_message", "special_status_message",
      "unimplemented_method", "unimplemented_service", "cancel_after_begin",
      "cancel_after_first_response", "timeout_on_sleeping_server", "very_large_request"})
  void interoperates(String testCase) throws Exception {
    var client = new TestServiceClient();
    call(client, "parseArgs", (Object) Stream.concat(where.stream(),
        Stream.of("--server_host=127.0.0.1", "--use_okhttp=true", "--test_case=" + testCase))
        .toArray(String[]::new));
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
