package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.loop.NettyTransport;
import dev.activator.testing.LogLines;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class AcceptFailuresTest extends WireTest {
  @Test
  void saysWhyConnectionsAreNotAccepted_atMostOnceInTenSeconds() throws Exception {
    try (var lines = LogLines.of(ProxyServer.class)) {
      var port = activator.server.listenFor("127.0.0.1", 0, (_, _) -> {
      }).get();
      var address = NettyTransport.text(port.localAddress());
      for (int i = 0; i < 2; i++) {
        port.pipeline().fireExceptionCaught(new IOException("Too many open files"));
      }
      port.close().sync();

      assertThat(lines.at(Level.WARN).stream()
          .filter(line -> line.contains(address))).containsExactly(
              "Cannot accept connections on " + address + ": Too many open files."
                  + " 0 others were since the last such line");
    }
  }
}
