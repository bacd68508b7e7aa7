package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.HeaderRewriter.BodyEnd;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class HeaderRewriterTest {
  private static HeaderFieldList rewritten(String... namesAndValues) {
    var fields = MapFields.of(namesAndValues);
    HeaderRewriter.request(fields, RequestVersion.HTTP_1_1, "hello.example", "10.1.2.3");
    return fields;
  }

  @Test
  @DisplayName("say where the request came through")
  void requestsSayWhereTheRequestCameThrough() {
    var fields = rewritten("Host", "hello.example");

    assertThat(fields.getAll("K-Proxy-Request")).containsExactly("activator");
    assertThat(fields.getAll("K-Original-Host")).containsExactly("hello.example");
    assertThat(fields.getAll("X-Forwarded-For")).containsExactly("10.1.2.3");
  }

  @Test
  @DisplayName("keep an original host that is there")
  void requestsKeepAnOriginalHostThatIsThere() {
    assertThat(rewritten("K-Original-Host", "first.example").getAll("K-Original-Host"))
        .containsExactly("first.example");
  }

  @Test
  void requestsGetAnOriginalHostInPlaceOfAnEmptyOne() {
    assertThat(rewritten("K-Original-Host", "").getAll("K-Original-Host"))
        .containsExactly("hello.example");
  }

  @Test
  @DisplayName("add the peer to those the request came through")
  void requestsAddThePeerToThoseTheRequestCameThrough() {
    assertThat(rewritten("X-Forwarded-For", "a", "X-Forwarded-For", "b").getAll("X-Forwarded-For"))
        .containsExactly("a, b, 10.1.2.3");
  }

  @Test
  @DisplayName("lose what names the revision, and the hash")
  void requestsLoseWhatNamesTheRevisionAndTheHash() {
    var fields = rewritten("Knative-Serving-Revision", "r", "Knative-Serving-Namespace", "n",
        "K-Network-Hash", "h");

    assertThat(fields.getAll("Knative-Serving-Revision")).isEmpty();
    assertThat(fields.getAll("Knative-Serving-Namespace")).isEmpty();
    assertThat(fields.getAll("K-Network-Hash")).isEmpty();
  }

  @Test
  @DisplayName("lose what is for one connection, and gain no User-Agent")
  void requestsLoseWhatIsForOneConnection() {
    var fields = rewritten("Connection", "keep-alive, x-foo", "X-Foo", "1", "Keep-Alive", "5",
        "Proxy-Connection", "keep-alive", "Proxy-Authenticate", "a", "Proxy-Authorization", "b",
        "Upgrade", "websocket", "Trailer", "X-T", "X-Bar", "2");

    for (String gone : new String[]{"Connection", "X-Foo", "Keep-Alive", "Proxy-Connection",
        "Proxy-Authenticate", "Proxy-Authorization", "Upgrade", "Trailer"}) {
      assertThat(fields.getAll(gone)).as(gone).isEmpty();
    }
    assertThat(fields.getAll("X-Bar")).containsExactly("2");
  }

  @Test
  @DisplayName("keep Trailer where trailers can follow")
  void requestsKeepTrailerWhereTrailersCanFollow() {
    var chunked = rewritten("Transfer-Encoding", "chunked", "Trailer", "X-T");
    var http2 = MapFields.of("Trailer", "X-T");
    HeaderRewriter.request(http2, RequestVersion.HTTP_2, "hello.example", "10.1.2.3");

    assertThat(chunked.getAll("Trailer")).containsExactly("X-T");
    assertThat(http2.getAll("Trailer")).containsExactly("X-T");
  }

  @Test
  @DisplayName("lose all that is for one connection, however much it is")
  void requestsLoseAllThatIsForOneConnection() {
    var options = new StringBuilder("content-length, Host");
    for (int i = 0; i < 30; i++) {
      options.append(", x-").append(i).append(",, X-").append(i);
    }
    var fields = rewritten("X-1", "a", "Content-Length", "5", "X-29", "b", "X-29", "c", "X-30",
        "d", "Connection", options.toString());

    assertThat(fields.getAll("X-1")).isEmpty();
    assertThat(fields.getAll("X-29")).isEmpty();
    assertThat(fields.getAll("X-30")).containsExactly("d");
    assertThat(fields.getAll("Content-Length")).containsExactly("5");
  }

  @Test
  void removesAField_whenASecondConnectionFieldNamesIt() {
    assertThat(rewritten("Connection", "keep-alive", "Connection", "x-foo", "X-Foo", "1")
        .getAll("X-Foo")).isEmpty();
    assertThat(rewritten("Connection", ",x-foo", "X-Foo", "1").getAll("X-Foo")).isEmpty();
  }

  @Test
  void requestsToAContainerWithoutQueueProxyKeepTheHostOfTheCaller() {
    var fields = MapFields.of("Host", "10.0.0.1:8080", "K-Original-Host", "hello.example");
    HeaderRewriter.addressContainer(fields);
    assertThat(fields.getAll("Host")).containsExactly("hello.example");
    assertThat(fields.getAll("K-Original-Host")).isEmpty();

    var without = MapFields.of("Host", "10.0.0.1:8080");
    HeaderRewriter.addressContainer(without);
    assertThat(without.getAll("Host")).containsExactly("10.0.0.1:8080");
  }

  @Test
  void keepsOurFieldsAndTheLength_whenAConnectionFieldNamesThem() {
    var fields = rewritten("Connection", "k-proxy-request, content-length, X-Forwarded-For",
        "Content-Length", "5");

    assertThat(fields.getAll("K-Proxy-Request")).containsExactly("activator");
    assertThat(fields.getAll("Content-Length")).containsExactly("5");
    assertThat(fields.getAll("X-Forwarded-For")).containsExactly("10.1.2.3");
  }

  /** Without it nobody would ask the caller for the body. */
  @Test
  void keepsAnExpectation_whenAConnectionFieldNamesIt() {
    var fields = rewritten("Connection", "expect", "Expect", "100-continue");

    assertThat(fields.getAll("Expect")).containsExactly("100-continue");
  }

  @Test
  @DisplayName("keep only the coding that is about trailers")
  void keepsOnlyTrailersInTe() {
    assertThat(rewritten("TE", "gzip, trailers").getAll("TE")).containsExactly("trailers");
    assertThat(rewritten("TE", "gzip").getAll("TE")).isEmpty();
  }

  @Test
  void requestsKeepChunks() {
    assertThat(rewritten("Transfer-Encoding", "Chunked").getAll("Transfer-Encoding"))
        .containsExactly("chunked");
  }

  @Test
  void requestsKeepAnExpectationButNotThatOfAnOldCaller() {
    assertThat(rewritten("Expect", "100-continue").getAll("Expect"))
        .containsExactly("100-continue");

    var old = MapFields.of("Expect", "100-continue");
    HeaderRewriter.request(old, RequestVersion.HTTP_1_0, "h", "p");
    assertThat(old.getAll("Expect")).isEmpty();
  }

  @Test
  @DisplayName("are addressed to the pod or its Service")
  void requestsAreAddressedToThePodOrItsService() {
    var toPod = MapFields.of("Host", "hello.example");
    HeaderRewriter.address(toPod, "10.0.0.1:8012", null);
    assertThat(toPod.getAll("Host")).containsExactly("10.0.0.1:8012");
    assertThat(toPod.getAll("K-Passthrough-Lb")).isEmpty();

    var toService = MapFields.of("Host", "hello.example");
    HeaderRewriter.address(toService, "10.0.0.1:8012", "real-name-private.real-namespace");
    assertThat(toService.getAll("Host")).containsExactly("real-name-private.real-namespace");
    assertThat(toService.getAll("K-Passthrough-Lb")).containsExactly("true");
  }

  @Test
  void responsesEndByTheLengthWhereThereIsOne() {
    var fields = MapFields.of("Content-Length", "3", "Connection", "close, x-foo", "X-Foo", "1",
        "Trailer", "X-Sum");

    assertThat(HeaderRewriter.response(fields, RequestVersion.HTTP_1_1, false))
        .isEqualTo(BodyEnd.LENGTH);
    assertThat(fields.getAll("Connection")).isEmpty();
    assertThat(fields.getAll("X-Foo")).isEmpty();
    assertThat(fields.getAll("Content-Length")).containsExactly("3");
    assertThat(fields.getAll("Trailer")).isEmpty();
  }

  @Test
  void responsesEndByAChunkWhereNot() {
    var fields = MapFields.of("Trailer", "X-Sum");

    assertThat(HeaderRewriter.response(fields, RequestVersion.HTTP_1_1, false))
        .isEqualTo(BodyEnd.CHUNK);
    assertThat(fields.getAll("Transfer-Encoding")).containsExactly("chunked");
    assertThat(fields.getAll("Trailer")).containsExactly("X-Sum");
  }

  @Test
  void responsesEndWithTheConnectionForCallersThatKnowNoChunks() {
    var fields = MapFields.of("Transfer-Encoding", "chunked", "Trailer", "X-Sum");

    assertThat(HeaderRewriter.response(fields, RequestVersion.HTTP_1_0, false))
        .isEqualTo(BodyEnd.CLOSE);
    assertThat(fields.getAll("Transfer-Encoding")).isEmpty();
    assertThat(fields.getAll("Trailer")).isEmpty();
  }

  @Test
  void responsesEndWithTheStreamInHttp2() {
    var fields = MapFields.of("Transfer-Encoding", "chunked", "Connection", "close", "Trailer",
        "X-Sum");

    assertThat(HeaderRewriter.response(fields, RequestVersion.HTTP_2, false))
        .isEqualTo(BodyEnd.STREAM);
    assertThat(fields.getAll("Transfer-Encoding")).isEmpty();
    assertThat(fields.getAll("Connection")).isEmpty();
    assertThat(fields.getAll("Trailer")).containsExactly("X-Sum");
  }

  @Test
  void responsesSayNothingOfChunksWhereThereIsNoBody() {
    var fields = MapFields.of("Transfer-Encoding", "chunked");

    assertThat(HeaderRewriter.response(fields, RequestVersion.HTTP_1_1, true))
        .isEqualTo(BodyEnd.LENGTH);
    assertThat(fields.getAll("Transfer-Encoding")).isEmpty();
  }
}
