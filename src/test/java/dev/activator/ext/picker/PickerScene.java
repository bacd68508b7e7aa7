package dev.activator.ext.picker;

import dev.activator.config.WaitingPageMode;
import dev.activator.lifecycle.Readiness;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.Throttler;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingResponse;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A picker, its throttler, and gateways with their streams, in virtual time. */
final class PickerScene {
  static final RevisionId WEB = new RevisionId("shop", "web");

  final VirtualLoop loop;
  final TestRevisions revisions;
  final Throttler throttler;
  final PickerCounts counts = new PickerCounts();
  final HeldRequestBytes held = Quiescence
      .watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20)));
  final List<RequestOutcome> outcomes = new ArrayList<>();
  /** Called with each step of each request. */
  Consumer<RequestTimeline> onResponding = _ -> {
  };
  boolean stopping;
  int counted;
  private final RequestDispatcher dispatcher;
  private final PickedRequest.Pods pods;

  PickerScene(VirtualLoop loop, Revision revision, int fallbacks,
      Function<TestRevisions, Throttler> throttlers) {
    this.loop = loop;
    this.revisions = new TestRevisions(loop, revision);
    this.throttler = throttlers.apply(revisions);
    throttler.onRevision(revisions.of(WEB));
    var router = new Router(
        new RevisionResolver.Hosts((host, _, _) -> host.startsWith("web.shop") ? WEB : null),
        _ -> null, revisions.live, Readiness.Ready::new,
        Dispatchers.arrival(WaitingPageMode.OFF, List.of()));
    this.dispatcher = Dispatchers.with(loop, router, throttler::admit, new FakePod())
        .held(held.share()).observer(this::saw).counter(new RequestCounts() {
          @Override
          public void arrived(RevisionId id) {
            counted++;
          }

          @Override
          public void left(RevisionId id) {
            counted--;
          }
        }).build();
    this.pods = new PickedRequest.Pods(throttler, fallbacks, () -> stopping);
    loop.run();
  }

  private void saw(Step step, RequestTimeline request) {
    if (step == Step.RESPONDING) {
      onResponding.accept(request);
    } else if (step == Step.ENDED) {
      outcomes.add(Objects.requireNonNull(request.outcome()));
    }
  }

  static Destination pod(int number) {
    return new Destination("10.0.0." + number, 8080);
  }

  static List<Destination> pods(int count) {
    return IntStream.rangeClosed(1, count).mapToObj(PickerScene::pod).toList();
  }

  void has(Collection<Destination> now) {
    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(now)));
    loop.run();
  }

  int inFlight() {
    return Objects.requireNonNull(throttler.view(WEB)).inFlight();
  }

  int queued() {
    return Objects.requireNonNull(throttler.view(WEB)).queued();
  }

  Gateway open(ProcessingRequest... messages) {
    var gateway = new Gateway();
    gateway.send(messages);
    return gateway;
  }

  /** One stream of a gateway. A message is read only when the picker asks for one. */
  final class Gateway extends ServerCall<ProcessingRequest, ProcessingResponse> {
    final List<ProcessingResponse> received = new ArrayList<>();
    /** The end of the stream; null while it is open. */
    @Nullable Status status;
    boolean cancelled;
    private final PickerCall call = new PickerCall(this, dispatcher,
        new Caller("10.7.7.7", 4321, false), pods, counts);
    private final ArrayDeque<ProcessingRequest> unread = new ArrayDeque<>();
    private int asked;

    Gateway() {
      call.start();
      Quiescence.watch(loop);
      Quiescence.watch(this, () -> {
        if (status == null && !cancelled) {
          cancel();
        }
      });
    }

    void send(ProcessingRequest... messages) {
      unread.addAll(List.of(messages));
      deliver();
      loop.run();
    }

    int unread() {
      return unread.size();
    }

    void halfClose() {
      call.onHalfClose();
      loop.run();
    }

    void cancel() {
      cancelled = true;
      call.onCancel();
      loop.run();
    }

    ProcessingResponse last() {
      return received.getLast();
    }

    boolean waits() {
      return received.isEmpty() && status == null;
    }

    /** The chosen pod, without fallbacks. */
    String pod() {
      return EnvoyMessages.pods(received.getFirst()).getFirst();
    }

    int refusal() {
      return last().getImmediateResponse().getStatus().getCode();
    }

    @Override
    public void request(int number) {
      asked += number;
      loop.execute(this::deliver);
    }

    private void deliver() {
      while (asked > 0 && !unread.isEmpty()) {
        asked--;
        call.onMessage(unread.poll());
      }
    }

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(ProcessingResponse message) {
      if (status != null || cancelled) {
        throw new IllegalStateException("the stream has ended");
      }
      received.add(message);
    }

    @Override
    public void close(Status how, Metadata trailers) {
      if (status != null) {
        throw new IllegalStateException("the stream has ended");
      }
      status = how;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public MethodDescriptor<ProcessingRequest, ProcessingResponse> getMethodDescriptor() {
      throw new UnsupportedOperationException();
    }
  }
}
