package dev.activator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.StandardConstants;
import org.junit.jupiter.api.Test;

/** Names of servers that callers ask for (SNI), which TLS is told of once in a process. */
class ServerNamesTest {
  /** A handshake for each name of the arguments. */
  static final class Handshakes {
    public static void main(String[] names) throws Exception {
      ActivatorApplication.setUpTls();
      var shown = Authority.named("one").issue("hello.example").serve();
      try (var server = (SSLServerSocket) shown.getServerSocketFactory().createServerSocket(0)) {
        for (String name : names) {
          var accepted = CompletableFuture.supplyAsync(() -> accept(server));
          try (var caller = (SSLSocket) Certificate.trustEverything().getSocketFactory()
              .createSocket("127.0.0.1", server.getLocalPort())) {
            var parameters = caller.getSSLParameters();
            parameters.setServerNames(List.of(nameOf(name)));
            caller.setSSLParameters(parameters);
            caller.startHandshake();
          }
          accepted.join();
        }
      }
    }

    private static boolean accept(SSLServerSocket server) {
      try (var peer = (SSLSocket) server.accept()) {
        peer.startHandshake();
        return peer.getInputStream().read() < 0;
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }

    /** Unlike {@code SNIHostName}, any bytes. */
    private static SNIServerName nameOf(String name) {
      return new SNIServerName(StandardConstants.SNI_HOST_NAME,
          name.getBytes(StandardCharsets.UTF_8)) {
      };
    }
  }

  @Test
  void mayBeAnything() throws Exception {
    var process = new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-cp",
        System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1",
        Handshakes.class.getName(), "hello.example", "a_b", "::1", "a.", "a".repeat(300))
        .redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
