package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.testing.Certificate;
import dev.activator.testing.RawPeer;
import dev.activator.testing.TestValues;
import dev.activator.tls.ServerCertificate.CertificateFiles;
import dev.activator.tls.ServerTlsSettings;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest extends WireTest {

  @TempDir
  Path files;
  private Path chain;
  private Path key;

  @BeforeEach
  void names() {
    chain = files.resolve("tls.crt");
    key = files.resolve("tls.key");
  }

  private int listen(Certificate shown, String keyForm) throws IOException {
    shown.write(chain, key, keyForm);
    return activator.server.listen("127.0.0.1", 0,
        CertificateFiles.read(chain, key, TestValues.TLS13).certificate());
  }

  private static HttpResponse<String> probe(int port, Certificate trusted,
      HttpClient.Version version) throws Exception {
    try (var client = HttpClient.newBuilder().sslContext(trusted.trust()).version(version)
        .build()) {
      return client.send(HttpRequest.newBuilder(URI.create("https://localhost:" + port + "/"))
          .header("K-Network-Probe", "activator").build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void speaksBothVersionsOfHttp() throws Exception {
    var certificate = Certificate.rsa();
    int port = listen(certificate, "PKCS#8");
    // Java 26 has a third.
    for (var version : List.of(HttpClient.Version.HTTP_1_1, HttpClient.Version.HTTP_2)) {
      var response = probe(port, certificate, version);
      assertThat(response.body()).isEqualTo("activator");
      assertThat(response.version()).isEqualTo(version);
    }
  }

  @Test
  void readsKeysInTheFormsThatToolsWrite() throws Exception {
    for (var certificate : List.of(Certificate.rsa(), Certificate.ec())) {
      for (var form : Set.of("PKCS#8", "traditional")) {
        int port = listen(certificate, form);
        assertThat(probe(port, certificate, HttpClient.Version.HTTP_1_1).body())
            .isEqualTo("activator");
      }
    }
  }

  @Test
  @DisplayName("shows a new certificate once the files have one, and keeps the old one if they are broken")
  void takesANewCertificateOver() throws Exception {
    var first = Certificate.ec();
    var second = Certificate.ec();
    first.write(chain, key, "PKCS#8");
    var shown = CertificateFiles.read(chain, key, TestValues.TLS13);
    int port = activator.server.listen("127.0.0.1", 0, shown.certificate());
    assertThat(shownBy(port)).isEqualTo(first.certificate());

    Files.writeString(chain, "broken");
    shown.reload();
    assertThat(shownBy(port)).isEqualTo(first.certificate());

    second.write(chain, key, "PKCS#8");
    shown.reload();
    assertThat(shownBy(port)).isEqualTo(second.certificate());
    assertThat(probe(port, second, HttpClient.Version.HTTP_2).body()).isEqualTo("activator");
  }

  @Test
  void keepsTheOldCertificateWhereTheNewOneHasAnothersKey() throws Exception {
    var first = Certificate.ec();
    first.write(chain, key, "PKCS#8");
    var shown = CertificateFiles.read(chain, key, TestValues.TLS13);
    int port = activator.server.listen("127.0.0.1", 0, shown.certificate());

    Files.writeString(chain, Certificate.ec().pem());
    shown.reload();

    assertThat(shownBy(port)).isEqualTo(first.certificate());
    assertThat(probe(port, first, HttpClient.Version.HTTP_1_1).body()).isEqualTo("activator");
  }

  private static X509Certificate shownBy(int port) throws Exception {
    try (var socket = (SSLSocket) Certificate.trustEverything().getSocketFactory()
        .createSocket("127.0.0.1", port)) {
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }
  }

  @Test
  void endsTheConnectionOfACallerThatRenegotiates() throws Exception {
    assumeTrue(Boolean.getBoolean("jdk.tls.rejectClientInitiatedRenegotiation"),
        "TLS was set up as main() does not");
    // given a port that speaks TLS 1.2: there is no such thing in TLS 1.3
    Certificate.ec().write(chain, key, "PKCS#8");
    var older = new ServerTlsSettings(List.of("TLSv1.2"), List.of(), List.of(), null);
    int port = activator.server.listen("127.0.0.1", 0,
        CertificateFiles.read(chain, key, older).certificate());
    try (var caller = RawPeer.connectOverTls(port, Certificate.trustEverything())) {
      caller.sendHead("GET / HTTP/1.1", "Host: x", "K-Network-Probe: activator");
      assertThat(response(caller)).isEqualTo("200 activator");

      // when the caller begins another handshake, then it is not made
      caller.tls().startHandshake();
      assertThatThrownBy(() -> {
        caller.sendHead("GET / HTTP/1.1", "Host: x", "K-Network-Probe: activator");
        caller.readHead();
      }).isInstanceOf(IOException.class);
    }
  }

  @Test
  void showsItsCertificate_whateverNameACallerRequests() throws Exception {
    int port = listen(Certificate.ec(), "PKCS#8");
    try (var caller = RawPeer.connectOverTls(port, Certificate.trustEverything())) {
      var parameters = caller.tls().getSSLParameters();
      parameters.setServerNames(List.of(new SNIHostName("other.example")));
      caller.tls().setSSLParameters(parameters);
      caller.sendHead("GET / HTTP/1.1", "Host: x", "K-Network-Probe: activator");
      assertThat(response(caller)).isEqualTo("200 activator");
    }
  }

  @Test
  void cutsABodyThatEndsWithTheConnection_whenTheServerIsClosed() throws Exception {
    int port = listen(Certificate.ec(), "PKCS#8");
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\n\r\npartial");
      caller.awaitEnd();
    });
    try (var caller = RawPeer.connectOverTls(port, Certificate.trustEverything())) {
      Activator.request(caller, "GET / HTTP/1.0");
      caller.readHead();
      assertThat(caller.read(7)).isEqualTo("partial");

      activator.server.close();

      assertThatThrownBy(caller::readToEnd).isInstanceOf(IOException.class);
    }
  }

  @Test
  void endsItsSideWithCloseNotify_whenACallerThatIsStillSendingHasItsLastResponse()
      throws Exception {
    int port = listen(Certificate.ec(), "PKCS#8");
    var group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    var events = new LinkedBlockingQueue<String>();
    try {
      var trusting = SslContextBuilder.forClient()
          .trustManager(InsecureTrustManagerFactory.INSTANCE)
          .endpointIdentificationAlgorithm("").build();
      var caller = new Bootstrap().group(group).channel(NioSocketChannel.class)
          .handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
              channel.pipeline().addLast(trusting.newHandler(channel.alloc()));
              channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext on, Object event) {
                  if (event instanceof SslCloseCompletionEvent end) {
                    events.add(end.isSuccess() ? "close_notify" : "cut");
                  }
                }
              });
            }
          }).connect("127.0.0.1", port).sync().channel();
      caller.writeAndFlush(Unpooled.copiedBuffer("POST / HTTP/1.1\r\nHost: x\r\n"
          + "K-Network-Probe: activator\r\nConnection: close\r\nContent-Length: 9\r\n\r\n",
          StandardCharsets.US_ASCII));

      assertThat(next(events)).isEqualTo("close_notify");
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
  }

  @Test
  void refusesOldVersionsOfTls() throws Exception {
    int port = listen(Certificate.ec(), "PKCS#8");
    SSLContext client = Certificate.trustEverything();
    try (var socket = (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", port)) {
      socket.setEnabledProtocols(new String[]{"TLSv1.2"});
      assertThatThrownBy(socket::startHandshake).isInstanceOf(SSLHandshakeException.class);
    }
  }

  @Test
  void saysWhichFilesCannotBeUsed() throws Exception {
    assertThatThrownBy(() -> CertificateFiles.read(chain, key, TestValues.TLS13))
        .isInstanceOf(IOException.class).hasMessageContaining("tls.crt");
    Certificate.ec().write(chain, key, "PKCS#8");
    Files.writeString(key, "broken");
    assertThatThrownBy(() -> CertificateFiles.read(chain, key, TestValues.TLS13))
        .isInstanceOf(IOException.class).hasMessageContaining("tls.key");
  }
}
