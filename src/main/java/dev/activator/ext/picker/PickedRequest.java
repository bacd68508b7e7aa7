package dev.activator.ext.picker;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.exchange.Seams.Delivery;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.revision.Destination;
import dev.activator.throttle.PodChoice;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.Throttler;
import dev.activator.wire.ProcessingRequest;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The request of a stream. It waits for a permit as one that is forwarded does; the gateway then gets
 * the pod instead of the pod getting the request. The permit is held until the gateway has reported the
 * end of the response, or is gone.
 *
 * <p><b>Threads.</b> The dispatcher's loop.
 */
final class PickedRequest implements Downstream, Delivery {
  private static final String QUEUE_FULL = "queue-full";
  private static final String MEMORY_FULL = "memory-full";
  private static final LocalResponse SHUTTING_DOWN = LocalResponse
      .error(503, "the activator is shutting down").with(RequestFailure.REASON, "shutting-down");
  private static final LocalResponse NONE_OF_SUBSET = LocalResponse
      .error(503, "none of the gateway's pods takes requests")
      .with(RequestFailure.REASON, "no-pod-of-subset");

  /** The stream, by which the gateway is notified. */
  interface Owner {
    /** @param pods the chosen one, then its fallbacks */
    void picked(List<Destination> pods);

    /** The caller gets this response, and no pod the request. */
    void answered(LocalResponse answer);

    /** The request was cut off after its response had begun. */
    void aborted();
  }

  /**
   * What all requests share.
   *
   * @param fallbacks how many other pods an answer names
   */
  record Pods(Throttler throttler, int fallbacks, BooleanSupplier isStopping) {}

  private final RequestDispatcher dispatcher;
  private final Caller gateway;
  private final ResettableTimer timer;
  private final Pods pods;
  private final PickerCounts counts;
  private final Owner owner;
  /** The bytes for which a large head is counted as held; 0 for a small one. */
  private int headBytes;
  /** Null before it begins, and after its end. */
  private @Nullable Exchange exchange;
  private @Nullable Set<Destination> subset;
  private @Nullable SubsetChoice choice;
  private @Nullable Permit permit;
  private Ending ending = Ending.ABANDONED;

  PickedRequest(RequestDispatcher dispatcher, Caller gateway, Pods pods, PickerCounts counts,
      Owner owner) {
    this.dispatcher = dispatcher;
    this.gateway = gateway;
    this.timer = new ResettableTimer(dispatcher.loop(), this::checkDeadlines);
    this.pods = pods;
    this.counts = counts;
    this.owner = owner;
  }

  /** @param message has the request's head */
  void admit(ProcessingRequest message) {
    subset = ProcessingMessages.subset(message);
    if (pods.isStopping.getAsBoolean()) {
      owner.answered(SHUTTING_DOWN);
      return;
    }
    var fields = ProcessingMessages.fields(message.getRequestHeaders().getHeaders());
    var original = RequestDispatcher.original(ProcessingMessages.pseudo(fields, ":method"),
        ProcessingMessages.pseudo(fields, ":authority"), ProcessingMessages.pseudo(fields, ":path"),
        withoutPseudo(fields));
    headBytes = dispatcher.holdLargeHead(original, Integer.MAX_VALUE);
    dispatcher.with(this).answerGateway(original, this);
  }

  /** The gateway wants no answer any more. Has no effect after the end of the exchange. */
  void left() {
    var open = exchange;
    ended();
    if (open != null) {
      open.callerGone();
    }
  }

  private void checkDeadlines() {
    long left = exchange == null ? Long.MAX_VALUE : exchange.checkDeadlines();
    if (left != Long.MAX_VALUE && exchange != null) {
      timer.within(left);
    }
  }

  private static List<Map.Entry<String, String>> withoutPseudo(
      List<Map.Entry<String, String>> fields) {
    return fields.stream().filter(field -> !field.getKey().startsWith(":")).toList();
  }

  @Override
  public @Nullable PodChoice choice(@Nullable PodChoice ofRevision) {
    if (subset == null) {
      return ofRevision;
    }
    var revision = Objects.requireNonNull(exchange).serving();
    choice = new SubsetChoice(subset, ofRevision, pod -> pods.throttler.load(revision, pod));
    return choice;
  }

  @Override
  public void deliver(Exchange exchange, Permit granted) {
    permit = granted;
    exchange.delivered(granted);
    var picked = new ArrayList<Destination>();
    picked.add(granted.destination());
    // A limit is exact, so no pod is named whose permit is not held.
    if (exchange.servingSpec().containerConcurrency() == 0 && granted.isPod()) {
      addFallbacks(exchange, picked);
    }
    owner.picked(List.copyOf(picked));
  }

  /** Adds those that follow the picked one in the list of all, so that not all requests get the same. */
  private void addFallbacks(Exchange exchange, List<Destination> picked) {
    var all = pods.throttler.destinations(exchange.serving()).stream()
        .filter(pod -> subset == null || subset.contains(pod)).toList();
    int at = all.indexOf(picked.getFirst());
    for (int i = 1; i < all.size() && i <= pods.fallbacks && at >= 0; i++) {
      picked.add(all.get((at + i) % all.size()));
    }
  }

  /**
   * Call when the response has begun.
   *
   * @return the headers that observers add to it
   */
  List<Map.Entry<String, String>> begun(ProcessingRequest message) {
    var open = Objects.requireNonNull(exchange);
    var served = ProcessingMessages.served(message);
    if (served != null) {
      move(open, served);
    }
    var fields = ProcessingMessages.fields(message.getResponseHeaders().getHeaders());
    var head = response(status(ProcessingMessages.pseudo(fields, ":status")));
    for (var field : withoutPseudo(fields)) {
      try {
        head.headers().add(HeaderFieldList.checked(new AsciiString(field.getKey())),
            field.getValue());
      } catch (IllegalArgumentException e) {
        // A header that no observer could read.
      }
    }
    int before = head.headers().size();
    open.head(head);
    var all = head.headers().entries();
    return List.copyOf(all.subList(before, all.size()));
  }

  private static HttpResponse response(int status) {
    return new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status),
        HeaderFieldList.CHECKED);
  }

  private static int status(String text) {
    try {
      int status = Integer.parseInt(text);
      return status < 200 || status > 999 ? 200 : status;
    } catch (NumberFormatException e) {
      return 200;
    }
  }

  /** Counts the request on the pod where it ran. */
  private void move(Exchange open, Destination served) {
    var held = permit;
    if (held == null || served.equals(held.destination())) {
      return;
    }
    counts.moved();
    permit = pods.throttler.acquireUnlimited(open.serving(), served);
    // The gateway would not have sent the request elsewhere if this pod had taken it.
    held.release(Ending.BROKEN);
  }

  /** Call when a part of the response's body has come: the response is not idle. */
  void continued() {
    pass(new DefaultHttpContent(Unpooled.EMPTY_BUFFER));
  }

  /** Call when the response has ended. */
  void responded() {
    ending = Ending.ANSWERED;
    pass(LastHttpContent.EMPTY_LAST_CONTENT);
  }

  private void pass(HttpContent part) {
    var open = exchange;
    if (open != null) {
      if (!open.responded()) {
        // The gateway sends no heads of responses.
        open.head(response(200));
      }
      open.respond(part);
    }
  }

  @Override
  public void ended(Exchange exchange) {
    var held = permit;
    permit = null;
    if (held != null) {
      held.release(ending);
    }
  }

  @Override
  public void answer(LocalResponse answer) {
    owner.answered(withStatusOfProtocol(answer));
  }

  /** A full queue is a 429: the gateway's caller should send less. */
  private LocalResponse withStatusOfProtocol(LocalResponse answer) {
    if (choice != null && choice.isEmpty()) {
      return NONE_OF_SUBSET;
    }
    var reason = answer.headers().get(RequestFailure.REASON);
    return QUEUE_FULL.equals(reason) || MEMORY_FULL.equals(reason)
        ? new LocalResponse(429, answer.headers(), answer.body())
        : answer;
  }

  @Override
  public void abort() {
    ended();
    owner.aborted();
  }

  @Override
  public Caller caller() {
    return gateway;
  }

  @Override
  public void begin(Exchange begun) {
    exchange = begun;
  }

  @Override
  public void checkAt(long dueNanos) {
    timer.at(dueNanos);
  }

  @Override
  public void ended() {
    exchange = null;
    timer.cancel();
    dispatcher.releaseHead(headBytes);
    headBytes = 0;
  }

  // The gateway itself sends the response.

  @Override
  public void interim(HttpResponse head) {}

  @Override
  public void head(HttpResponse head) {}

  @Override
  public void content(HttpContent content) {}

  @Override
  public void drainWithin(long nanos) {}

  @Override
  public void flush() {}

  @Override
  public boolean isWritable() {
    return true;
  }

  @Override
  public void pauseReading() {}

  @Override
  public void resumeReading() {}
}
