package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.TcpKeepAlive;
import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods that take all that comes over a connection for requests of the user who has authenticated on it. */
class AuthenticatedConnectionTest extends WireTest {
  @BeforeEach
  void podRemembersItsUser() throws IOException {
    activator.close();
    // Each loop has connections of its own.
    activator = new Activator(settings(), tls(), io(), TcpKeepAlive.TO_PODS, 1);
    pod(caller -> {
      var user = "none";
      while (true) {
        var head = caller.readHead();
        var credentials = head.all("Authorization");
        user = credentials.isEmpty() ? user : credentials.getLast();
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: " + user.length() + "\r\n\r\n" + user);
      }
    });
  }

  private String userOf(String... fields) throws IOException {
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1", fields);
      return response(caller);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Negotiate YII=", "NTLM TlRMTVNTUAAB", "negotiate YII=", "Nego2 YII="})
  void areGivenNoRequestOfAnotherCallerOverIt(String credentials) throws IOException {
    assertThat(userOf("Authorization: " + credentials)).isEqualTo("200 " + credentials);

    assertThat(userOf()).isEqualTo("200 none");
  }

  @Test
  void areGivenNoRequestOfAnotherCallerOverIt_ifTheSchemeIsNotInTheFirstField() throws IOException {
    assertThat(userOf("Authorization: Basic YTpi", "Authorization: Negotiate YII="))
        .isEqualTo("200 Negotiate YII=");

    assertThat(userOf()).isEqualTo("200 none");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer eyJ", "Basic YTpi"})
  void areGivenOne_ifTheSchemeIsAboutARequest(String credentials) throws IOException {
    assertThat(userOf("Authorization: " + credentials)).isEqualTo("200 " + credentials);

    // Shows that the connection was used again.
    assertThat(userOf()).isEqualTo("200 " + credentials);
  }
}
