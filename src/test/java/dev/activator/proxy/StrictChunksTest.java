package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies in chunks, and what follows them. */
class StrictChunksTest extends StrictTest {
  private static final String CHUNKED = POST + "Transfer-Encoding: chunked\r\n\r\n";
  private static final String END = "0\r\n\r\n";

  static Stream<Arguments> chunks() {
    String abcde = "\r\nabcde\r\n" + END;
    return Stream.of(Arguments.of("a size of 17 digits", "00000000000000005" + abcde),
        Arguments.of("a size of 17 digits that are not zero", "10000000000000005" + abcde),
        Arguments.of("a size beyond 2 GiB", "80000000" + abcde),
        Arguments.of("a size of -1 in 64 bits", "FFFFFFFFFFFFFFFF" + abcde),
        Arguments.of("a negative size", "-5" + abcde), Arguments.of("a sign", "+5" + abcde),
        Arguments.of("0x", "0x5" + abcde), Arguments.of("an underscore", "0_5" + abcde),
        Arguments.of("a point", "5.0" + abcde), Arguments.of("no digit", "zz" + abcde),
        Arguments.of("a digit beyond ASCII", "\u00b2" + abcde),
        Arguments.of("no size", abcde), Arguments.of("no size before extensions", ";a=b" + abcde),
        Arguments.of("a blank before the size", " 5" + abcde),
        Arguments.of("a blank behind the size", "5 " + abcde),
        Arguments.of("a NUL behind the size", "5\0" + abcde),
        Arguments.of("a bare line feed behind the size", "5\nabcde\r\n" + END),
        Arguments.of("a bare carriage return behind the size", "5\rabcde\r\n" + END),
        Arguments.of("two carriage returns behind the size", "5\r\r\nabcde\r\n" + END),
        Arguments.of("a line feed in an extension", "5;a\nb" + abcde),
        Arguments.of("a line feed in a quoted extension", "5;a=\"\n\"" + abcde),
        Arguments.of("a carriage return in an extension", "5;a\rb" + abcde),
        Arguments.of("a NUL in an extension", "5;a\0" + abcde),
        Arguments.of("an extension that is no token", "5;a(b" + abcde),
        Arguments.of("an extension whose quotes do not end", "5;a=\"b" + abcde),
        Arguments.of("extensions of more than 4 KiB", "5;" + "a".repeat(5_000) + abcde),
        Arguments.of("many long extensions",
            ("1;" + "a".repeat(4_000) + "\r\nx\r\n").repeat(8) + END),
        Arguments.of("more data than was said", "5\r\nabcdefg\r\n" + END),
        Arguments.of("less data than was said", "5\r\nabc\r\n" + END),
        Arguments.of("no line end behind data", "5\r\nabcde" + END),
        Arguments.of("a line feed behind data", "5\r\nabcde\n" + END),
        Arguments.of("a carriage return behind data", "5\r\nabcde\r" + END),
        Arguments.of("a line feed behind the last chunk", "5\r\nabcde\r\n0\r\n\n"),
        Arguments.of("a last chunk of a sign", "5\r\nabcde\r\n-0\r\n\r\n"));
  }

  static Stream<Arguments> trailers() {
    return Stream.of(Arguments.of("a folded trailer", "X-T: a\r\n b"),
        Arguments.of("a tab before a trailer", "\tX-T: a"),
        Arguments.of("a blank before the first trailer", " X-T: a"),
        Arguments.of("a blank before the colon", "X-T : a"),
        Arguments.of("a carriage return in a value", "X-T: a\rb"),
        Arguments.of("a line feed in a value", "X-T: a\nX-U: b"),
        Arguments.of("a NUL in a value", "X-T: a\0b"),
        Arguments.of("a NUL in a name", "X\0T: a"), Arguments.of("no name", ": a"),
        Arguments.of("no colon", "X-T"), Arguments.of("a length", "Content-Length: 5"),
        Arguments.of("a length in small letters", "X-T: a\r\ncontent-length: 5"),
        Arguments.of("a coding", "Transfer-Encoding: chunked"),
        Arguments.of("a host", "Host: other.example"),
        Arguments.of("more trailers", "Trailer: X-T"),
        Arguments.of("connection options", "Connection: close"),
        Arguments.of("a revision", "Knative-Serving-Revision: other-00001"),
        Arguments.of("who asks", "X-Forwarded-For: 10.0.0.1"),
        Arguments.of("more than 64 KiB",
            ("X-T: " + "a".repeat(1_000) + "\r\n").repeat(70) + "X: y"),
        Arguments.of("more than 1,000", "A:\r\n".repeat(1_000) + "X: y"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("chunks")
  void refusesMalformedChunks(String what, String body) throws Exception {
    refused(400, CHUNKED + body);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("chunks")
  void refusesThemByteByByte(String what, String body) throws Exception {
    refusedByteByByte(400, CHUNKED + body);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("trailers")
  void refusesMalformedTrailers(String what, String lines) throws Exception {
    refused(400, CHUNKED + "5\r\nabcde\r\n0\r\n" + lines + "\r\n\r\n");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("trailers")
  void rejectsMalformedTrailers_whenTheyArriveByteByByte(String what, String lines)
      throws Exception {
    refusedByteByByte(400, CHUNKED + "5\r\nabcde\r\n0\r\n" + lines + "\r\n\r\n");
  }

  @Test
  void saysWhatIsWrongWithABody() throws Exception {
    assertThat(refused(400, CHUNKED + "00000000000000005\r\nabcde\r\n" + END))
        .isEqualTo("400 Bad Request: chunk size too large\n");
    assertThat(refused(400, CHUNKED + "0\r\nContent-Length: 5\r\n\r\n"))
        .isEqualTo("400 Bad Request: trailer that belongs in the head\n");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"5", "05", "0000000000000005", "5;a", "5;a=b", "5;a=\"b c\"", "5 ;a=b"})
  void readsAChunkWhoseSizeIsWrittenLike(String size) throws Exception {
    var got = echo();
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        caller.send(CHUNKED + size + "\r\nabcde\r\n000;x\r\nX-T: t\r\n\r\n");
        assertThat(response(caller)).isEqualTo("200 ok");
        assertThat(next(got)).containsExactly("abcde", "X-T: t");
      }
    }
  }

  /** RFC 9110, section 7.6.1. */
  @Test
  void passesNoTrailerOnThatTheConnectionFieldNames() throws Exception {
    var got = echo();
    try (var caller = activator.connect()) {
      caller.send(CHUNKED.replace("Transfer-Encoding", "Connection: x-a\r\nTransfer-Encoding")
          + "5\r\nabcde\r\n0\r\nX-A: a\r\nX-T: t\r\n\r\n");
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(next(got)).containsExactly("abcde", "X-T: t");
    }
  }

  @Test
  void readsManyChunksHoweverTheyAreCutUp() throws Exception {
    var got = echo();
    String request = CHUNKED + "a\r\n0123456789\r\n".repeat(1_000) + "0\r\n\r\n";
    try (var caller = activator.connect()) {
      for (int piece : new int[]{1, 2, 3, 5, 7, 11, 1_000, 1_000_000}) {
        for (int at = 0; at < request.length(); at += piece) {
          caller.send(request.substring(at, Math.min(request.length(), at + piece)));
        }
        assertThat(response(caller)).isEqualTo("200 ok");
        assertThat(next(got)).containsExactly("0123456789".repeat(1_000));
      }
    }
  }

  /** A pod that says what it got: the body, then the lines of trailers. */
  private BlockingQueue<List<String>> echo() throws Exception {
    BlockingQueue<List<String>> got = new LinkedBlockingQueue<>();
    pod(caller -> {
      while (true) {
        caller.readHead();
        got.add(bodyAndTrailers(caller));
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }
    });
    return got;
  }

  private static List<String> bodyAndTrailers(RawPeer caller) throws IOException {
    var body = new StringBuilder();
    for (String chunk = caller.readChunk(); !chunk.isEmpty(); chunk = caller.readChunk()) {
      body.append(chunk);
    }
    var all = new ArrayList<>(List.of(body.toString()));
    all.addAll(caller.readHeadLines());
    return all;
  }
}
