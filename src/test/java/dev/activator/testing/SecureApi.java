package dev.activator.testing;

import dev.activator.embedded.api.EmbeddedApiServer;
import dev.activator.embedded.api.cache.WatchCacheSettings;
import dev.activator.embedded.api.http.ApiServerTestHooks;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.loop.NettyLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/**
 * A Kubernetes API as in a cluster: over TLS, in HTTP/2 or HTTP/1.1 as the client chooses, for callers
 * with the right bearer token. The training of the image, which compiles it by itself, uses it too: it needs no
 * library that only tests have.
 */
public final class SecureApi implements AutoCloseable {
  private static final String TOKEN = "the-token-of-a-service-account";

  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final ApiStore store = new ApiStore(Clock.systemUTC());
  private final X509Certificate certificate;
  private final PrivateKey key;
  private final int port = FreePort.next();
  private EmbeddedApiServer server;
  private volatile boolean forbidsSlices;

  public SecureApi(X509Certificate certificate, PrivateKey key) {
    this.certificate = certificate;
    this.key = key;
    this.server = newServer();
    server.start();
  }

  private EmbeddedApiServer newServer() {
    return new EmbeddedApiServer(store, new NettyLoop(threads.next()),
        new InetSocketAddress("127.0.0.1", port), WatchCacheSettings.DEFAULT, new Hooks());
  }

  /** Ends all connections, and accepts none until it is started again; what it serves stays. */
  public void stop() {
    server.stop();
  }

  /** Serves again where it did. */
  public void startAgain() {
    server = newServer();
    server.start();
  }

  /** What it serves; writes to it are seen by every client. */
  public ApiStore store() {
    return store;
  }

  /** From now on it has the rights of the ClusterRole of Knative's activator: no EndpointSlices. */
  public SecureApi forbidSlices() {
    forbidsSlices = true;
    return this;
  }

  /** A request that it accepts. */
  public HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("https://localhost:" + port + path))
        .header("Authorization", "Bearer " + TOKEN);
  }

  /** A configuration with which a client may use it. */
  public Path kubeconfig() throws IOException {
    var authority = Base64.getEncoder()
        .encodeToString(pem(certificate).getBytes(StandardCharsets.US_ASCII));
    return Files.writeString(Files.createTempFile("kubeconfig", ".yaml"), """
        apiVersion: v1
        kind: Config
        current-context: here
        clusters:
        - name: here
          cluster: {server: 'https://localhost:%d', certificate-authority-data: %s}
        contexts: [{name: here, context: {cluster: here, user: me}}]
        users: [{name: me, user: {token: %s}}]
        """.formatted(port, authority, TOKEN));
  }

  public static String pem(X509Certificate certificate) {
    try {
      return pem("CERTIFICATE", certificate.getEncoded());
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static String pem(String kind, byte[] der) {
    return "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(der)
        + "\n-----END " + kind + "-----\n";
  }

  private final class Hooks implements ApiServerTestHooks {
    @Override
    public HttpServer server(HttpServer plain) {
      return plain.protocol(HttpProtocol.H2, HttpProtocol.HTTP11)
          .secure(tls -> tls.sslContext(Http2SslContextSpec.forServer(key, certificate)));
    }

    @Override
    public HttpHandler requests(HttpHandler handler) {
      return (request, response) -> {
        if (!("Bearer " + TOKEN).equals(request.getHeaders().getFirst("Authorization"))) {
          response.setStatusCode(HttpStatus.UNAUTHORIZED);
        } else if (forbidsSlices && request.getPath().value().contains("/endpointslices")) {
          response.setStatusCode(HttpStatus.FORBIDDEN);
        } else {
          return handler.handle(request, response);
        }
        return response.setComplete();
      };
    }
  }

  @Override
  public void close() {
    server.stop();
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
