package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.grpc.testing.integration.Messages.ResponseParameters;
import io.grpc.testing.integration.Messages.StreamingOutputCallRequest;
import io.grpc.testing.integration.Messages.StreamingOutputCallResponse;
import io.grpc.testing.integration.TestServiceGrpc;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A gRPC stream in both directions that goes on until its connection is to end. */
final class OpenStream implements StreamObserver<StreamingOutputCallResponse> {
  private final ManagedChannel channel;
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private final StreamObserver<StreamingOutputCallRequest> requests;

  private OpenStream(ManagedChannel channel) {
    this.channel = channel;
    this.requests = TestServiceGrpc.newStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers()))
        .fullDuplexCall(this);
  }

  static OpenStream to(Activator activator) throws InterruptedException {
    var stream = new OpenStream(OkHttpChannelBuilder.forAddress("127.0.0.1", activator.port)
        .usePlaintext().build());
    stream.talk();
    return stream;
  }

  /** Says which revision is meant. */
  static Metadata headers() {
    var headers = new Metadata();
    headers.put(key("knative-serving-namespace"), RestartPods.GRPC.namespace());
    headers.put(key("knative-serving-revision"), RestartPods.GRPC.name());
    return headers;
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  private void talk() throws InterruptedException {
    requests.onNext(StreamingOutputCallRequest.newBuilder()
        .addResponseParameters(ResponseParameters.newBuilder().setSize(1)).build());
    assertThat(WireTest.next(received)).isEqualTo("message");
  }

  /** Waits to be told that its connection will end, and goes on to its own. */
  void endInOrder() throws InterruptedException {
    WireTest.eventually(
        () -> assertThat(channel.getState(false)).isNotEqualTo(ConnectivityState.READY));
    talk();
    requests.onCompleted();
    assertThat(WireTest.next(received)).isEqualTo("OK");
    channel.shutdownNow();
  }

  @Override
  public void onNext(StreamingOutputCallResponse message) {
    received.add("message");
  }

  @Override
  public void onError(Throwable failure) {
    received.add(failure.toString());
  }

  @Override
  public void onCompleted() {
    received.add("OK");
  }
}
