package dev.activator.ext.picker;

import dev.activator.ext.picker.PickerCounts.End;
import dev.activator.ext.picker.PickerStream.Action;
import dev.activator.ext.picker.PickerStream.Event;
import dev.activator.ext.picker.PickerStream.Stage;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.Destination;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingResponse;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;

/**
 * One stream of a gateway: reads its messages, and does what {@link PickerStream} decides.
 *
 * <p><b>Threads.</b> The loop of the gateway's connection.
 */
final class PickerCall extends ServerCall.Listener<ProcessingRequest>
    implements PickedRequest.Owner {
  /** The longest time without a message of a stream that has no request. */
  static final Duration IDLE_TIMEOUT = Duration.ofSeconds(60);

  private final ServerCall<ProcessingRequest, ProcessingResponse> call;
  private final RequestDispatcher dispatcher;
  private final PickerCounts counts;
  private final PickedRequest request;
  private final ResettableTimer idle;
  private PickerStream stream = PickerStream.FRESH;
  private boolean awaitsMessage;

  PickerCall(ServerCall<ProcessingRequest, ProcessingResponse> call, RequestDispatcher dispatcher,
      Caller gateway, PickedRequest.Pods pods, PickerCounts counts) {
    this.call = call;
    this.dispatcher = dispatcher;
    this.counts = counts;
    this.request = new PickedRequest(dispatcher, gateway, pods, counts, this);
    this.idle = new ResettableTimer(dispatcher.loop(), () -> on(new Event.Idle()));
  }

  /** Call once, before anything else. */
  void start() {
    call.sendHeaders(new Metadata());
    idle.within(IDLE_TIMEOUT);
    readOn();
  }

  @Override
  public void onMessage(ProcessingRequest message) {
    awaitsMessage = false;
    on(new Event.Message(message));
  }

  @Override
  public void onHalfClose() {
    on(new Event.GatewayEnded());
  }

  @Override
  public void onCancel() {
    on(new Event.GatewayEnded());
  }

  @Override
  public void onReady() {
    readOn();
  }

  @Override
  public void picked(List<Destination> pods) {
    on(new Event.Picked(pods));
  }

  @Override
  public void answered(LocalResponse answer) {
    on(new Event.Answered(answer));
  }

  @Override
  public void aborted() {
    on(new Event.Aborted());
  }

  private void on(Event event) {
    var step = stream.on(event);
    dispatcher.held().add(step.next().heldBytes() - stream.heldBytes());
    // Stored first, because an action may lead to another event.
    stream = step.next();
    step.actions().forEach(this::run);
    if (stream.stage() == Stage.OVER) {
      idle.within(IDLE_TIMEOUT);
    } else if (stream.stage() != Stage.FRESH) {
      idle.cancel();
    }
    readOn();
  }

  private void run(Action action) {
    switch (action) {
      case Action.Admit(var message) -> request.admit(message);
      case Action.Send(var message) -> {
        if (message.hasImmediateResponse()) {
          counts.ended(End.ANSWERED);
        } else if (message.hasResponseBody()) {
          request.continued();
        }
        send(message);
      }
      case Action.ResponseBegun(var message) ->
        send(ProcessingMessages.responseHead(request.begun(message)));
      case Action.ResponseEnded(var isSeen) -> {
        counts.ended(isSeen ? End.RESPONSE : End.HEAD);
        request.responded();
      }
      case Action.Leave() -> {
        counts.ended(End.LEFT);
        request.left();
      }
      case Action.Close() -> call.close(Status.OK, new Metadata());
      case Action.Reject(var why) -> {
        counts.ended(End.MALFORMED);
        request.left();
        call.close(Status.INVALID_ARGUMENT.withDescription(why), new Metadata());
      }
      case Action.Cut() -> {
        counts.ended(End.CUT);
        call.close(Status.DEADLINE_EXCEEDED.withDescription("the request was cut off"),
            new Metadata());
      }
    }
  }

  private void send(ProcessingResponse message) {
    if (!call.isCancelled()) {
      call.sendMessage(message);
    }
  }

  /** Reads one message at a time, so that a gateway that reads nothing cannot make more answers wait. */
  private void readOn() {
    if (!awaitsMessage && stream.reads() && call.isReady()) {
      awaitsMessage = true;
      call.request(1);
    }
  }
}
