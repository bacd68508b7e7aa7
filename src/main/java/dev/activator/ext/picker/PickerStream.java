package dev.activator.ext.picker;

import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.Destination;
import dev.activator.wire.BodySendMode;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingRequest.Body;
import dev.activator.wire.ProcessingRequest.ProtocolConfiguration;
import dev.activator.wire.ProcessingResponse;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one stream, which is about one request: what a gateway has sent, and what it gets for
 * it. A value that sees no thread, socket or clock.
 *
 * <p>A gateway sends the head of the request first. It may go on with the body while the request waits
 * for a pod, and with the response before the body has ended. It gets one answer for each message, in
 * order for each direction.
 *
 * <p><b>Source.</b> {@code external_processor.proto} and {@code ext_proc.cc} of Envoy; the endpoint
 * picker protocol of Gateway API's inference extension, 1.0.
 *
 * @param modes how the gateway sends bodies; null if it has not said so
 * @param unanswered messages that came after the request's head, and before its pod was chosen
 * @param heldBytes their bytes
 */
record PickerStream(Stage stage, Part request, Part response, @Nullable ProtocolConfiguration modes,
    List<ProcessingRequest> unanswered, int heldBytes) {
  /** The bytes of messages from which no more is read while the request waits. */
  static final int MAX_HELD_BYTES = 64 << 10;
  /** The number of messages, which may be empty, after which no more is read while the request waits. */
  static final int MAX_HELD_MESSAGES = 64;
  static final PickerStream FRESH = new PickerStream(Stage.FRESH, Part.NONE, Part.NONE, null,
      List.of(), 0);

  enum Stage {
    FRESH,
    /** No pod is chosen yet. */
    WAITING,
    /** The request runs on a pod. */
    RUNNING,
    /** The request has ended, and the gateway may still send messages. */
    OVER,
    CLOSED
  }

  /** How far one direction has come. */
  enum Part {
    NONE,
    HEAD,
    BODY,
    END,
    TRAILERS
  }

  sealed interface Event {
    record Message(ProcessingRequest message) implements Event {}

    /** @param pods the chosen one, then its fallbacks */
    record Picked(List<Destination> pods) implements Event {}

    /** The caller gets this response instead of the pod's. */
    record Answered(LocalResponse answer) implements Event {}

    /** The request was cut off after its response had begun. */
    record Aborted() implements Event {}

    /** The gateway sends nothing more, or has cancelled the stream. */
    record GatewayEnded() implements Event {}

    /** No message came for a long time although no request runs. */
    record Idle() implements Event {}
  }

  sealed interface Action {
    /**
     * Admits the request. Always the last of its step.
     *
     * @param message has the request's head
     */
    record Admit(ProcessingRequest message) implements Action {}

    record Send(ProcessingResponse message) implements Action {}

    /**
     * Answers the message with the headers that are added to the response.
     *
     * @param message has the head of the pod's response
     */
    record ResponseBegun(ProcessingRequest message) implements Action {}

    /** @param isSeen whether the gateway has reported the end, or has closed the stream before */
    record ResponseEnded(boolean isSeen) implements Action {}

    /** Gives up the request. */
    record Leave() implements Action {}

    /** Ends the stream without an error. */
    record Close() implements Action {}

    /** Gives up the request, and ends the stream, because the gateway has broken the protocol. */
    record Reject(String why) implements Action {}

    /** Ends the stream, so that the gateway breaks off the response. */
    record Cut() implements Action {}
  }

  /** @param actions in order */
  record Step(PickerStream next, List<Action> actions) {}

  Step on(Event event) {
    if (stage == Stage.CLOSED) {
      return step();
    }
    return switch (event) {
      case Event.Message(var message) -> message(message);
      case Event.Picked(var pods) when stage == Stage.WAITING -> picked(pods);
      case Event.Picked _ -> step();
      case Event.Answered(var answer) -> answered(answer);
      case Event.Aborted() -> closed(new Action.Cut());
      case Event.GatewayEnded() -> gatewayEnded();
      case Event.Idle() when stage == Stage.FRESH ->
        closed(new Action.Reject("no request_headers came in time"));
      case Event.Idle() -> closed(new Action.Close());
    };
  }

  /** Whether more of the gateway's messages may be read now. */
  boolean reads() {
    return heldBytes < MAX_HELD_BYTES && unanswered.size() < MAX_HELD_MESSAGES
        && stage != Stage.CLOSED;
  }

  private Step message(ProcessingRequest message) {
    if (stage == Stage.FRESH) {
      return first(message);
    }
    var next = moved(message);
    if (next == null) {
      return closed(new Action.Reject(message.getRequestCase() + " is in the wrong order"));
    }
    boolean ofResponse = isOfResponse(message);
    return switch (stage) {
      case WAITING -> ofResponse
          // The gateway itself has answered the caller, so no pod is needed.
          ? next.with(Stage.OVER).step(new Action.Leave(), next.answer(message))
          : next.held(message).step();
      case RUNNING -> ofResponse ? next.responding(message) : next.step(next.answer(message));
      case OVER -> next.step(next.answer(message));
      case FRESH, CLOSED -> throw new IllegalStateException();
    };
  }

  private Step first(ProcessingRequest message) {
    if (message.getObservabilityMode()) {
      return closed(new Action.Close());
    }
    if (!message.hasRequestHeaders()) {
      return closed(new Action.Reject("the first message is " + message.getRequestCase()
          + ", but must be REQUEST_HEADERS: set request_header_mode to SEND"));
    }
    var head = message.getRequestHeaders();
    var modes = message.hasProtocolConfig() ? message.getProtocolConfig() : null;
    return new PickerStream(Stage.WAITING, head.getEndOfStream() ? Part.END : Part.HEAD, Part.NONE,
        modes, List.of(), 0).step(new Action.Admit(message));
  }

  private Step picked(List<Destination> pods) {
    var actions = new ArrayList<Action>();
    actions.add(new Action.Send(ProcessingMessages.picked(pods, modes)));
    unanswered.forEach(message -> actions.add(answer(message)));
    return new Step(new PickerStream(Stage.RUNNING, request, response, modes, List.of(), 0),
        List.copyOf(actions));
  }

  private Step answered(LocalResponse answer) {
    return closed(new Action.Send(ProcessingMessages.immediate(answer)), new Action.Close());
  }

  private Step responding(ProcessingRequest message) {
    var answer = message.hasResponseHeaders()
        ? new Action.ResponseBegun(message)
        : answer(message);
    return response.compareTo(Part.END) < 0
        ? step(answer)
        : with(Stage.OVER).step(answer, new Action.ResponseEnded(true));
  }

  /** A gateway that closes after the response's head sends no more of the response. */
  private Step gatewayEnded() {
    return switch (stage) {
      case WAITING -> closed(new Action.Leave(), new Action.Close());
      case RUNNING -> closed(
          response == Part.NONE ? new Action.Leave() : new Action.ResponseEnded(false),
          new Action.Close());
      case FRESH, OVER, CLOSED -> closed(new Action.Close());
    };
  }

  /** The stream after the message; null if the message is in the wrong order. */
  private @Nullable PickerStream moved(ProcessingRequest message) {
    boolean ofResponse = isOfResponse(message);
    var now = ofResponse ? response : request;
    var next = switch (message.getRequestCase()) {
      case REQUEST_HEADERS -> null;
      case RESPONSE_HEADERS -> now != Part.NONE
          ? null
          : message.getResponseHeaders().getEndOfStream() ? Part.END : Part.HEAD;
      case REQUEST_BODY -> afterBody(now, message.getRequestBody());
      case RESPONSE_BODY -> afterBody(now, message.getResponseBody());
      case REQUEST_TRAILERS, RESPONSE_TRAILERS -> now == Part.TRAILERS ? null : Part.TRAILERS;
      case REQUEST_NOT_SET -> null;
    };
    if (next == null) {
      return null;
    }
    return ofResponse
        ? new PickerStream(stage, request, next, modes, unanswered, heldBytes)
        : new PickerStream(stage, next, response, modes, unanswered, heldBytes);
  }

  /** An empty end may come after the end, as agentgateway sends it after trailers. */
  private static @Nullable Part afterBody(Part now, Body body) {
    boolean ends = body.getEndOfStream() || body.getEndOfStreamWithoutMessage();
    if (now.compareTo(Part.END) < 0) {
      return ends ? Part.END : Part.BODY;
    }
    return ends && body.getBody().isEmpty() ? now : null;
  }

  private static boolean isOfResponse(ProcessingRequest message) {
    return message.hasResponseHeaders() || message.hasResponseBody()
        || message.hasResponseTrailers();
  }

  private PickerStream held(ProcessingRequest message) {
    var all = new ArrayList<>(unanswered);
    all.add(message);
    return new PickerStream(stage, request, response, modes, List.copyOf(all),
        heldBytes + message.getSerializedSize());
  }

  private Action.Send answer(ProcessingRequest message) {
    var mode = modes == null
        ? BodySendMode.NONE
        : isOfResponse(message) ? modes.getResponseBodyMode() : modes.getRequestBodyMode();
    return new Action.Send(ProcessingMessages.unchanged(message, mode));
  }

  private PickerStream with(Stage now) {
    return new PickerStream(now, request, response, modes, List.of(), 0);
  }

  private Step closed(Action... actions) {
    return with(Stage.CLOSED).step(actions);
  }

  private Step step(Action... actions) {
    return new Step(this, List.of(actions));
  }
}
