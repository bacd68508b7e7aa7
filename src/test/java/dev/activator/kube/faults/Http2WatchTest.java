package dev.activator.kube.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.Rig;
import dev.activator.kube.reflector.ApiErrorText;
import dev.activator.kube.reflector.SharedInformers;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.ReflectorContext;
import dev.activator.loop.ThreadLoop;
import dev.activator.testing.Certificate;
import dev.activator.testing.TestValues;
import dev.activator.testing.quiescence.Quiescence;
import io.fabric8.kubernetes.client.Config;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Lists and watches over TLS, where they share one connection. */
class Http2WatchTest {
  private static final String LIST = "{\"kind\":\"List\",\"apiVersion\":\"v1\","
      + "\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]}";

  /** The connection of each watch. */
  private final List<Channel> watches = new CopyOnWriteArrayList<>();
  private final List<Channel> lists = new CopyOnWriteArrayList<>();
  private final ThreadLoop loop = new ThreadLoop("test informers");
  private final DisposableServer server;
  private final KubernetesApiClient api;

  Http2WatchTest() throws Exception {
    var certificate = Certificate.ec();
    server = HttpServer.create().protocol(HttpProtocol.H2).host("127.0.0.1").port(0)
        .secure(tls -> tls.sslContext(Http2SslContextSpec.forServer(stream(certificate.pem()),
            stream(certificate.keyPem()))))
        .handle(this::answer).bindNow();
    var config = Config.empty();
    config.setMasterUrl("https://127.0.0.1:" + server.port());
    config.setTrustCerts(true);
    config.setWebsocketPingInterval(3_000L);
    api = TestValues.kubernetesApi(config);
  }

  private static ByteArrayInputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
    boolean isWatch = request.uri().contains("watch=true");
    response.withConnection(
        connection -> (isWatch ? watches : lists)
            .add(Objects.requireNonNull(connection.channel().parent())));
    return isWatch
        ? response.sendHeaders().then(Mono.never())
        : response.header("Content-Type", "application/json").sendString(Mono.just(LIST));
  }

  @AfterEach
  void close() {
    api.close();
    loop.close();
    server.disposeNow();
  }

  @Test
  @DisplayName("notices by pings that the connection is half open, and watches over another")
  void noticesAHalfOpenConnection() {
    var informers = Quiescence.watch(new SharedInformers(api,
        new ReflectorContext(loop, Rig.QUICK, new Random(1), new ApiErrorText(api.url()))));
    var lease = informers.lease(Rig.ENDPOINTS);
    await().until(() -> lease.view().health().watching());
    assertThat(watches).hasSize(1);
    assertThat(watches.getFirst()).isSameAs(lists.getFirst());

    // when the server hears and says nothing more
    watches.getFirst().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext context, Object bytes) {
        ReferenceCountUtil.release(bytes);
      }
    });

    await().until(() -> watches.size() > 1);
    assertThat(watches.getLast()).isNotSameAs(watches.getFirst());
    await().until(() -> lease.view().health().watching());
    assertThat(lease.view().counts().lists()).isOne();
    lease.close();
  }
}
