package dev.activator.ext.picker;

import dev.activator.lifecycle.Readiness;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyTransport;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.TestRevisions;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import reactor.netty.resources.LoopResources;

/**
 * What a pick costs, beside a plain server of grpc-java that answers the same messages with fixed ones. Both
 * have one loop, and take turns. A stream is the head of a request, its answer, the head of the response, and
 * its answer; a gateway with one connection keeps 64 streams open.
 */
final class PickerBench {
  private static final int STREAMS = 64;
  private static final int PODS = 10;
  private static final Duration WARM_UP = Duration.ofSeconds(2);
  private static final String LOOPS = "servers";
  private static final MethodDescriptor<ProcessingRequest, ProcessingResponse> PROCESS = MethodDescriptor
      .<ProcessingRequest, ProcessingResponse>newBuilder().setType(MethodType.BIDI_STREAMING)
      .setFullMethodName("envoy.service.ext_proc.v3.ExternalProcessor/Process")
      .setRequestMarshaller(ProtoUtils.marshaller(ProcessingRequest.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(ProcessingResponse.getDefaultInstance()))
      .build();

  private final LoopResources loops = LoopResources.create(LOOPS, 1, true);
  private final LoopResources ofClients = LoopResources.create("gateway", 1, true);

  /** Arguments: rounds, and seconds of each measurement. */
  public static void main(String[] args) throws Exception {
    new PickerBench().run(Integer.parseInt(args[0]), Duration.ofSeconds(Long.parseLong(args[1])));
    System.exit(0);
  }

  private void run(int rounds, Duration time) throws Exception {
    long began = System.nanoTime();
    int picker = picker();
    System.out.printf("the picker's server has started after %d ms%n",
        (System.nanoTime() - began) / 1_000_000);
    int echo = echo();
    for (int i = 0; i < rounds; i++) {
      measure("picker", picker, time);
      measure("echo", echo, time);
    }
  }

  private int picker() throws Exception {
    var id = new RevisionId("shop", "web");
    var group = new LoopGroup(loops.onServer(true));
    var revisions = new TestRevisions(group::loopFor, Revision.of(id, STREAMS));
    var router = new Router(new RevisionResolver.Hosts((_, _, _) -> id), _ -> null, revisions.live,
        Readiness.Ready::new);
    var throttler = Make.throttler(revisions.live, Make.OWN_ADDRESS,
        ThrottlerOptions.of(10_000), new Random(1));
    var proxy = new ProxyServer(loops.onServerSelect(true), loops.onServer(true), group,
        Duration.ofSeconds(60),
        loop -> Dispatchers.with(loop, router, throttler::admit, new FakePod()).build());
    var server = new PickerServer(proxy,
        new PickerServer.Settings("127.0.0.1", 0, 0, Duration.ZERO, Duration.ZERO,
            new PickerTls.Off()),
        loops, throttler,
        new PickerCounts(), () -> true);
    server.start();
    throttler.onRevision(revisions.of(id));
    throttler.onDestinations(HealthyDestinations.pods(id, DestinationSet.of(IntStream
        .rangeClosed(1, PODS).mapToObj(i -> new Destination("10.0.0." + i, 8080)).toList())));
    return server.port();
  }

  private int echo() throws Exception {
    var pick = ProcessingMessages.picked(List.of(new Destination("10.0.0.1", 8080)), null);
    var head = ProcessingMessages.responseHead(List.of());
    return NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .bossEventLoopGroup(loops.onServerSelect(true)).workerEventLoopGroup(loops.onServer(true))
        .channelType(NettyTransport.of(loops.onServer(true).next()).server())
        .directExecutor()
        .addService(ServerServiceDefinition.builder("envoy.service.ext_proc.v3.ExternalProcessor")
            .addMethod(PROCESS, (call, _) -> {
              call.sendHeaders(new Metadata());
              call.request(1);
              return new ServerCall.Listener<>() {
                @Override
                public void onMessage(ProcessingRequest message) {
                  call.sendMessage(message.hasRequestHeaders() ? pick : head);
                  call.request(1);
                }

                @Override
                public void onHalfClose() {
                  call.close(Status.OK, new Metadata());
                }
              };
            }).build())
        .build().start().getPort();
  }

  private void measure(String name, int port, Duration time) throws Exception {
    var group = ofClients.onClient(true);
    var channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().directExecutor()
        .eventLoopGroup(group).channelType(NettyTransport.of(group.next()).socket())
        .build();
    var isOver = new AtomicBoolean();
    var picks = new LongAdder();
    var open = new CountDownLatch(STREAMS);
    Runnable next = new Runnable() {
      @Override
      public void run() {
        var call = channel.newCall(PROCESS, CallOptions.DEFAULT);
        call.start(new Gateway(call, () -> {
          picks.increment();
          if (isOver.get()) {
            open.countDown();
          } else {
            run();
          }
        }), new Metadata());
        call.request(2);
        call.sendMessage(EnvoyMessages.get());
      }
    };
    Stream.generate(() -> next).limit(STREAMS).forEach(Runnable::run);
    Thread.sleep(WARM_UP);
    long before = picks.sum();
    long cpu = cpuOfLoops();
    long began = System.nanoTime();
    Thread.sleep(time);
    long done = picks.sum() - before;
    System.out.printf("%s: %,d a second, %.1f microseconds of the loop each%n", name,
        done * 1_000_000_000L / (System.nanoTime() - began), (cpuOfLoops() - cpu) / 1e3 / done);
    isOver.set(true);
    open.await();
    channel.shutdown();
  }

  private static long cpuOfLoops() {
    var threads = ManagementFactory.getThreadMXBean();
    return Stream.of(threads.getThreadInfo(threads.getAllThreadIds()))
        .filter(thread -> thread != null && thread.getThreadName().startsWith(LOOPS))
        .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId())).sum();
  }

  /** One stream; reports the end of the response as soon as it has a pod. */
  private static final class Gateway extends ClientCall.Listener<ProcessingResponse> {
    private final ClientCall<ProcessingRequest, ProcessingResponse> call;
    private final Runnable onEnd;

    Gateway(ClientCall<ProcessingRequest, ProcessingResponse> call, Runnable onEnd) {
      this.call = call;
      this.onEnd = onEnd;
    }

    @Override
    public void onMessage(ProcessingResponse message) {
      if (message.hasRequestHeaders()) {
        call.sendMessage(EnvoyMessages.responseHeaders(200, true));
      } else {
        call.halfClose();
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!status.isOk()) {
        throw new IllegalStateException(status.toString());
      }
      onEnd.run();
    }
  }
}
