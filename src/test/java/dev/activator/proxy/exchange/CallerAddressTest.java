package dev.activator.proxy.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallerAddressTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource({"10.1.2.3, 10.1.2.3", "::1, ::1", "2001:db8:0:0:0:0:0:7, 2001:db8::7",
      "fe80::1%1, fe80::1"})
  void isWrittenInTheShortForm(String address, String expected) throws Exception {
    var peer = new InetSocketAddress(InetAddress.getByName(address), 5);
    var connection = new EmbeddedChannel() {
      @Override
      protected SocketAddress remoteAddress0() {
        return peer;
      }
    };

    assertThat(Downstream.Caller.of(connection))
        .isEqualTo(new Downstream.Caller(expected, 5, false));
    connection.close();
  }
}
