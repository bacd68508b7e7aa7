package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.RequestOutcome;
import dev.activator.testing.Certificate;
import dev.activator.testing.RawPeer;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.TestValues;
import dev.activator.tls.PodTls;
import dev.activator.tls.ServerCertificate.CertificateFiles;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Upgraded connections of which one side ends its output, and goes on reading. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time.
class HalfClosedTunnelTest extends SecuredTest {
  private static final String SWITCHED = "HTTP/1.1 101 Switching Protocols\r\n"
      + "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
  private static final String MUCH = "x".repeat(1_000_000);

  enum Transport {
    PLAIN,
    NIO,
    TLS
  }

  @TempDir
  Path files;
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private int port;
  private SSLContext trusting;

  private void start(Transport transport) throws Exception {
    activator.close();
    activator = new Activator(settings(),
        transport == Transport.TLS ? tls : new PodTls(TestRevisions.unused()),
        transport == Transport.NIO ? NioIoHandler.newFactory() : io());
    port = activator.port;
    if (transport == Transport.TLS) {
      var shown = Certificate.ec();
      var chain = files.resolve("tls.crt");
      var key = files.resolve("tls.key");
      shown.write(chain, key, "PKCS#8");
      port = activator.server.listen("127.0.0.1", 0,
          CertificateFiles.read(chain, key, TestValues.TLS13).certificate());
      trusting = shown.trust();
    }
  }

  private void podSwitches(Transport transport, Script script) throws IOException {
    if (transport == Transport.TLS) {
      secured(caller -> serve(caller, script));
    } else {
      pod(caller -> serve(caller, script));
    }
  }

  private interface Script {
    void run(RawPeer caller) throws IOException;
  }

  private static void serve(RawPeer caller, Script script) throws IOException {
    caller.readHead();
    caller.send(SWITCHED);
    script.run(caller);
  }

  private RawPeer switched() throws IOException {
    var caller = trusting == null
        ? RawPeer.connect(port)
        : RawPeer.connectOverTls(port, trusting);
    Activator.request(caller, "GET / HTTP/1.1", "Connection: Upgrade", "Upgrade: tcp");
    assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
    return caller;
  }

  private @Nullable RequestOutcome outcome() throws InterruptedException {
    return next(activator.requests.ended).request().outcome();
  }

  @ParameterizedTest
  @EnumSource
  void passesOnWhatThePodSends_afterTheCallerHasEndedItsSide(Transport transport)
      throws Exception {
    start(transport);
    podSwitches(transport, caller -> caller.send(caller.readToEnd().length() + MUCH));
    try (var caller = switched()) {
      caller.send(MUCH);
      caller.endOutput();

      assertThat(caller.readToEnd()).isEqualTo(MUCH.length() + MUCH);
      assertThat(outcome()).isEqualTo(RequestOutcome.UPGRADED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void passesOnWhatTheCallerSends_afterThePodHasEndedItsSide(Transport transport)
      throws Exception {
    start(transport);
    podSwitches(transport, caller -> {
      caller.send("bye");
      caller.endOutput();
      received.add(caller.readToEnd());
    });
    try (var caller = switched()) {
      assertThat(caller.readToEnd()).isEqualTo("bye");
      caller.send(MUCH);
      caller.endOutput();

      assertThat(next(received)).isEqualTo(MUCH);
      assertThat(outcome()).isEqualTo(RequestOutcome.UPGRADED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void endsBothSides_whenACallerThatHasEndedItsSideIsGone(Transport transport) throws Exception {
    start(transport);
    podSwitches(transport, caller -> {
      received.add(caller.readToEnd());
      while (true) {
        caller.send(MUCH);
      }
    });
    try (var caller = switched()) {
      caller.send("x");
      caller.endOutput();
      assertThat(next(received)).isEqualTo("x");
      caller.reset();
    }
    awaitIdle();
  }

  /** Without Linux's native transport it is read for five seconds. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void readsNoMoreOfAPod_whoseCallerIsGone() throws Exception {
    start(Transport.PLAIN);
    var sent = new AtomicLong();
    var cutOff = new CountDownLatch(1);
    podSwitches(Transport.PLAIN, caller -> {
      received.add(caller.readToEnd());
      try {
        while (true) {
          caller.send(MUCH);
          sent.addAndGet(MUCH.length());
        }
      } finally {
        cutOff.countDown();
      }
    });
    try (var caller = switched()) {
      caller.send("x");
      caller.endOutput();
      assertThat(next(received)).isEqualTo("x");
      caller.reset();
    }
    assertThat(cutOff.await(1, TimeUnit.MINUTES)).isTrue();
    assertThat(sent.get()).isLessThan(50_000_000);
  }

  @ParameterizedTest
  @EnumSource
  void endsBothSides_whenAPodThatHasEndedItsSideIsGone(Transport transport) throws Exception {
    start(transport);
    podSwitches(transport, caller -> {
      caller.endOutput();
      caller.read(1);
      caller.reset();
    });
    try (var caller = switched()) {
      assertThat(caller.readToEnd()).isEmpty();
      Flood.of(caller, MUCH.getBytes(StandardCharsets.ISO_8859_1)).awaitCutOff();
      awaitIdle();
    }
  }

  @Test
  void endsAHalfClosedTunnel_whenNothingPassesForTheIdleTimeout() throws Exception {
    start(Transport.PLAIN);
    activator.timeouts(Duration.ofMinutes(50), Duration.ofSeconds(10), Duration.ofSeconds(10));
    podSwitches(Transport.PLAIN, caller -> {
      received.add(caller.readToEnd());
      caller.awaitEnd();
    });
    try (var caller = switched()) {
      caller.endOutput();
      assertThat(next(received)).isEmpty();
      caller.awaitEnd();
    }
  }

  /** An attacker may have cut the bytes off. */
  @Test
  void endsBothSides_whenTheCallerEndsItsSideOverTlsWithoutCloseNotify() throws Exception {
    start(Transport.TLS);
    podSwitches(Transport.TLS, caller -> {
      received.add(caller.readToEnd());
    });
    try (var caller = switched()) {
      caller.send("x");
      caller.cut();
      assertThat(next(received)).isEqualTo("x");
      assertThat(outcome()).isEqualTo(RequestOutcome.CALLER_GONE);
    }
  }
}
