package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Request lines. RFC 9112, section 3, lets them be read loosely; two readers then may read two. */
class StrictLineTest extends StrictTest {
  static Stream<Arguments> refused() {
    return Stream.of(Arguments.of("a version in small letters", 400, "GET / http/1.1"),
        Arguments.of("a version in mixed letters", 400, "GET / HTTp/1.1"),
        Arguments.of("no version", 400, "GET /"),
        Arguments.of("a version of two digits", 400, "GET / HTTP/1.10"),
        Arguments.of("a version without a point", 400, "GET / HTTP/11"),
        Arguments.of("a version of letters", 400, "GET / HTTP/x.y"),
        Arguments.of("another protocol", 400, "GET / HTTPS/1.1"),
        Arguments.of("the next version", 505, "GET / HTTP/1.2"),
        Arguments.of("HTTP/2 by name", 505, "GET / HTTP/2.0"),
        Arguments.of("HTTP/0.9 by name", 505, "GET / HTTP/0.9"),
        Arguments.of("two blanks behind the method", 400, "GET  / HTTP/1.1"),
        Arguments.of("two blanks before the version", 400, "GET /  HTTP/1.1"),
        Arguments.of("a tab behind the method", 400, "GET\t/ HTTP/1.1"),
        Arguments.of("a tab before the version", 400, "GET /\tHTTP/1.1"),
        Arguments.of("a blank and a tab", 400, "GET \t/ HTTP/1.1"),
        Arguments.of("a vertical tab", 400, "GET\u000b/ HTTP/1.1"),
        Arguments.of("a form feed", 400, "GET /\fHTTP/1.1"),
        Arguments.of("a blank at the beginning", 400, " GET / HTTP/1.1"),
        Arguments.of("a tab at the beginning", 400, "\tGET / HTTP/1.1"),
        Arguments.of("a blank at the end", 400, "GET / HTTP/1.1 "),
        Arguments.of("a tab at the end", 400, "GET / HTTP/1.1\t"),
        Arguments.of("a line feed at the beginning", 400, "\nGET / HTTP/1.1"),
        Arguments.of("a line feed behind an empty line", 400, "\r\n\nGET / HTTP/1.1"),
        Arguments.of("a blank in the target", 400, "GET /a b HTTP/1.1"),
        Arguments.of("a fourth part", 400, "GET / HTTP/1.1 HTTP/1.1"),
        Arguments.of("no target", 400, "GET HTTP/1.1"),
        Arguments.of("no method", 400, "/ HTTP/1.1"), Arguments.of("a word", 400, "GET"),
        Arguments.of("a method that is no token", 400, "G@T / HTTP/1.1"),
        Arguments.of("a method with a colon", 400, "GET: / HTTP/1.1"),
        Arguments.of("a method beyond ASCII", 400, "G\u00c4T / HTTP/1.1"),
        Arguments.of("a NUL before the method", 400, "\0GET / HTTP/1.1"));
  }

  static Stream<Arguments> targets() {
    return Stream.of(Arguments.of("a relative path", "GET hello"),
        Arguments.of("an asterisk for a GET", "GET *"),
        Arguments.of("another scheme", "GET ftp://hello.example/"),
        Arguments.of("a scheme and a path", "GET http:/hello"),
        Arguments.of("no authority", "GET http:///hello"),
        Arguments.of("a user", "GET http://u@hello.example/"),
        Arguments.of("a user and a password", "GET http://u:p@hello.example/"),
        Arguments.of("a backslash in the authority", "GET http://hello.example\\a/"),
        Arguments.of("an authority alone", "GET hello.example:80"),
        Arguments.of("a tunnel", "CONNECT hello.example:80"),
        Arguments.of("a tunnel to a path", "CONNECT /"),
        Arguments.of("a DEL", "GET /\u007f"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void refusesALooseLine(String what, int status, String line) throws Exception {
    refused(status, line + "\r\n" + TO_HELLO + "\r\n");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void refusesItByteByByte(String what, int status, String line) throws Exception {
    refusedByteByByte(status, line + "\r\n" + TO_HELLO + "\r\n");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("targets")
  void refusesATargetThatIsNoneOfOurs(String what, String line) throws Exception {
    assertThat(refused(400, line + " HTTP/1.1\r\n" + TO_HELLO + "\r\n"))
        .isEqualTo("400 Bad Request: malformed target\n");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("targets")
  void refusesItOfAProbeToo(String what, String line) throws Exception {
    refused(400, line + " HTTP/1.1\r\nHost: x\r\nUser-Agent: kube-probe/1.34\r\n\r\n");
    refused(400, line + " HTTP/1.1\r\nHost: x\r\nK-Network-Probe: activator\r\n\r\n");
  }

  @Test
  void saysWhatIsWrongWithALine() throws Exception {
    assertThat(refused(400, "GET  / HTTP/1.1\r\n" + TO_HELLO + "\r\n")).isEqualTo(
        "400 Bad Request: not exactly one blank between the parts of the request line\n");
    assertThat(refused(400, "GET / http/1.1\r\n" + TO_HELLO + "\r\n"))
        .isEqualTo("400 Bad Request: malformed version\n");
  }

  @Test
  void passesOnMethodsItDoesNotKnowAsTheyAre() throws Exception {
    okPod();
    try (var caller = activator.connect()) {
      for (String method : new String[]{"TRACE", "get", "M-SEARCH", "X"}) {
        Activator.request(caller, method + " / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ok");
        assertThat(seen().start()).isEqualTo(method + " / HTTP/1.1");
      }
    }
  }

  @Test
  void believesTheTargetBeforeTheHost() throws Exception {
    okPod();
    try (RawPeer caller = activator.connect()) {
      caller.send("GET http://hello-00001.default.svc.cluster.local:8012/a?b HTTP/1.1\r\n"
          + "Host: other-00001.default.svc.cluster.local\r\n\r\n");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    var request = seen();
    assertThat(request.start()).isEqualTo("GET /a?b HTTP/1.1");
    assertThat(request.header("K-Original-Host"))
        .isEqualTo("hello-00001.default.svc.cluster.local:8012");
    assertThat(request.header("Host")).startsWith("127.0.0.1:");
  }
}
