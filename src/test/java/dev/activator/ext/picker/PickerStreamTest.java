package dev.activator.ext.picker;

import static dev.activator.ext.picker.EnvoyMessages.get;
import static dev.activator.ext.picker.EnvoyMessages.pods;
import static dev.activator.ext.picker.EnvoyMessages.post;
import static dev.activator.ext.picker.EnvoyMessages.request;
import static dev.activator.ext.picker.EnvoyMessages.requestBody;
import static dev.activator.ext.picker.EnvoyMessages.requestTrailers;
import static dev.activator.ext.picker.EnvoyMessages.responseBody;
import static dev.activator.ext.picker.EnvoyMessages.responseHeaders;
import static dev.activator.ext.picker.EnvoyMessages.responseTrailers;
import static dev.activator.ext.picker.EnvoyMessages.streamed;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.activator.ext.picker.PickerStream.Action;
import dev.activator.ext.picker.PickerStream.Event;
import dev.activator.ext.picker.PickerStream.Stage;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.Destination;
import dev.activator.wire.BodySendMode;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingRequest.Body;
import dev.activator.wire.ProcessingResponse;
import dev.activator.wire.ProcessingResponse.HeaderSendMode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What one stream gets for its messages. */
class PickerStreamTest {
  private static final Event PICKED = new Event.Picked(
      List.of(new Destination("10.0.0.1", 8080), new Destination("fd00::1", 80)));
  private static final Event REFUSED = new Event.Answered(
      LocalResponse.error(503, "no").with("K-Activator-Reason", "cannot-start"));
  private static final Event LEFT = new Event.GatewayEnded();

  private PickerStream stream = PickerStream.FRESH;
  private final List<Action> actions = new ArrayList<>();

  private void on(Event event) {
    var step = stream.on(event);
    stream = step.next();
    actions.addAll(step.actions());
  }

  private List<ProcessingResponse> sent() {
    return actions.stream()
        .flatMap(action -> action instanceof Action.Send(var message)
            ? Stream.of(message)
            : Stream.empty())
        .toList();
  }

  private String names() {
    return actions.stream()
        .map(action -> action instanceof Action.Send(var message)
            ? message.getResponseCase().name()
            : action instanceof Action.ResponseEnded(var isSeen)
                ? isSeen ? "ResponseEnded" : "ResponseEndedUnseen"
                : action.getClass().getSimpleName())
        .collect(Collectors.joining(" "));
  }

  private static Event message(ProcessingRequest message) {
    return new Event.Message(message);
  }

  private static Arguments row(String expected, Object... events) {
    return Arguments.of(expected, Stream.of(events)
        .map(event -> event instanceof ProcessingRequest message ? message(message) : event)
        .toList());
  }

  static Stream<Arguments> conversations() {
    var head = responseHeaders(200, false);
    return Stream.of(
        // The default modes. From 1.37 on, Envoy closes when the response's head is answered.
        row("Admit REQUEST_HEADERS ResponseBegun ResponseEndedUnseen Close", get(), PICKED, head,
            LEFT),
        row("Admit REQUEST_HEADERS ResponseBegun ResponseEnded Close", get(), PICKED,
            responseHeaders(204, true), LEFT),
        // Bodies in separate streams; the response begins before the request has ended.
        row("Admit REQUEST_HEADERS REQUEST_BODY ResponseBegun RESPONSE_BODY REQUEST_BODY RESPONSE_BODY"
            + " ResponseEnded Close", post(), PICKED, requestBody("a", false), head,
            responseBody("b", false), requestBody("c", true), responseBody("", true), LEFT),
        // What came while the request waited is answered in order.
        row("Admit REQUEST_HEADERS REQUEST_BODY REQUEST_BODY REQUEST_TRAILERS", post(),
            requestBody("a", false), requestBody("b", false), requestTrailers(), PICKED),
        // With trailers, and agentgateway's end after them.
        row("Admit REQUEST_HEADERS ResponseBegun RESPONSE_BODY RESPONSE_TRAILERS ResponseEnded"
            + " RESPONSE_BODY Close", post(), PICKED, head, responseBody("a", false),
            responseTrailers(), responseBody("", true), LEFT),
        // A whole body, then trailers.
        row("Admit REQUEST_HEADERS ResponseBegun RESPONSE_BODY ResponseEnded RESPONSE_TRAILERS",
            get(),
            PICKED, head, responseBody("a", true), responseTrailers()),
        // The gateway skips the response's head.
        row("Admit REQUEST_HEADERS RESPONSE_BODY ResponseEnded", get(), PICKED,
            responseBody("a", true)),
        row("Admit Leave Close", get(), LEFT),
        row("Admit REQUEST_HEADERS Leave Close", get(), PICKED, LEFT),
        row("Admit IMMEDIATE_RESPONSE Close", get(), REFUSED),
        // The gateway itself answers a request that waits.
        row("Admit Leave RESPONSE_HEADERS RESPONSE_BODY Close", get(),
            responseHeaders(504, false), responseBody("late", true), LEFT),
        // Deadlines: before the response the caller gets an answer, later the response is cut.
        row("Admit REQUEST_HEADERS IMMEDIATE_RESPONSE Close", get(), PICKED, REFUSED),
        row("Admit REQUEST_HEADERS ResponseBegun Cut", get(), PICKED, head, new Event.Aborted()),
        row("Close", LEFT),
        row("Reject", new Event.Idle()),
        row("Admit REQUEST_HEADERS ResponseBegun ResponseEnded Close", get(), PICKED,
            responseHeaders(200, true), new Event.Idle()),
        row("Close", get().toBuilder().setObservabilityMode(true).build()),
        // In the wrong order.
        row("Reject", head), row("Reject", requestBody("a", true)),
        row("Reject", responseTrailers()),
        row("Reject", ProcessingRequest.getDefaultInstance()),
        row("Admit Reject", get(), get()),
        row("Admit Reject", get(), requestBody("a", false)),
        row("Admit Reject", post(), requestTrailers(), requestBody("a", false)),
        row("Admit REQUEST_HEADERS Reject", get(), PICKED, get()),
        row("Admit REQUEST_HEADERS ResponseBegun Reject", get(), PICKED, head, head),
        row("Admit REQUEST_HEADERS Reject", get(), PICKED,
            ProcessingRequest.getDefaultInstance()),
        row("Admit REQUEST_HEADERS ResponseBegun ResponseEnded Reject", get(), PICKED,
            responseHeaders(200, true), responseBody("a", false)),
        // Nothing after the end.
        row("Admit IMMEDIATE_RESPONSE Close", get(), REFUSED, PICKED, head, LEFT, REFUSED));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("conversations")
  void answersEachMessageInOrder(String expected, List<Event> events) {
    events.forEach(this::on);

    assertThat(names()).isEqualTo(expected);
  }

  @Test
  void namesThePodInAHeaderAndInMetadata() {
    on(message(post()));
    on(PICKED);

    assertThat(pods(sent().getFirst())).containsExactly("10.0.0.1:8080", "[fd00::1]:80");
    assertThat(sent().getFirst().hasModeOverride()).isFalse();
  }

  @Test
  void requestsTheBodyOfTheResponse_ifItsEndWouldNotBeSeen() {
    on(message(request("POST", "web.shop", "/", BodySendMode.BUFFERED, BodySendMode.NONE).build()));
    on(PICKED);

    var modes = sent().getFirst().getModeOverride();
    assertThat(modes.getRequestBodyMode()).isEqualTo(BodySendMode.BUFFERED);
    assertThat(modes.getResponseBodyMode()).isEqualTo(BodySendMode.STREAMED);
    assertThat(modes.getResponseHeaderMode()).isEqualTo(HeaderSendMode.SEND);
    assertThat(modes.getResponseTrailerMode()).isEqualTo(HeaderSendMode.SEND);
    assertThat(modes.getRequestTrailerMode()).isEqualTo(HeaderSendMode.DEFAULT);
  }

  @Test
  void sendsBodiesBackOnlyInSeparateStreams() {
    on(message(post()));
    on(message(requestBody("a", false)));
    on(PICKED);
    on(message(requestBody("b", true)));
    on(message(responseBody("c", true)));

    assertThat(sent().stream().skip(1)).extracting(EnvoyMessages::streamed).containsExactly("a",
        "b|", "c|");

    stream = PickerStream.FRESH;
    actions.clear();
    on(message(request("POST", "web.shop", "/", BodySendMode.STREAMED, BodySendMode.STREAMED)
        .build()));
    on(PICKED);
    on(message(requestBody("b", true)));
    assertThat(sent().getLast().getRequestBody().hasResponse()).isFalse();
  }

  @Test
  void sendsGrpcMessagesBackAsTheyAre() {
    on(message(request("POST", "web.shop", "/", BodySendMode.GRPC, BodySendMode.GRPC).build()));
    on(PICKED);
    var parts = List.of(
        Body.newBuilder().setBody(ByteString.copyFromUtf8("a")).setGrpcMessageCompressed(true),
        Body.newBuilder().setEndOfStreamWithoutMessage(true));
    parts.forEach(part -> on(message(ProcessingRequest.newBuilder().setRequestBody(part).build())));

    assertThat(sent().stream().skip(1).map(answer -> answer.getRequestBody().getResponse()
        .getBodyMutation().getStreamedResponse().toByteString()))
        .containsExactlyElementsOf(
            parts.stream().map(part -> part.build().toByteString()).toList());
    assertThat(stream.request()).isEqualTo(PickerStream.Part.END);
  }

  @Test
  void leavesTheRequestsTrailersInTheModeThatNeedsThem() {
    on(message(request("POST", "web.shop", "/", BodySendMode.FULL_DUPLEX_STREAMED,
        BodySendMode.NONE).build()));
    on(PICKED);

    assertThat(sent().getFirst().getModeOverride().getRequestTrailerMode())
        .isEqualTo(HeaderSendMode.SEND);
  }

  @Test
  void refusesWithTheStatusAndTheReason() {
    on(message(get()));
    on(REFUSED);

    var answer = sent().getFirst().getImmediateResponse();
    assertThat(answer.getStatus().getCode()).isEqualTo(503);
    assertThat(answer.getBody().toStringUtf8()).isEqualTo("no\n");
    assertThat(answer.getHeaders().getSetHeadersList())
        .extracting(option -> option.getHeader().getKey() + "="
            + option.getHeader().getRawValue().toStringUtf8())
        .contains("k-activator-reason=cannot-start");
  }

  @Test
  void readsABoundedPartOfABodyWhileTheRequestWaits() {
    on(message(post()));
    int parts = 0;
    while (stream.reads() && parts < 1000) {
      on(message(requestBody("x".repeat(1 << 10), false)));
      parts++;
    }
    assertThat(parts).isEqualTo(PickerStream.MAX_HELD_BYTES >> 10);

    on(PICKED);
    assertThat(stream.reads()).isTrue();
    assertThat(stream.heldBytes()).isZero();
    assertThat(stream.stage()).isEqualTo(Stage.RUNNING);
  }
}
