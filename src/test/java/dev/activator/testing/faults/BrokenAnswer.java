package dev.activator.testing.faults;

import dev.activator.embedded.api.store.Json;
import java.util.Arrays;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/** A response whose body is not as it was meant to be. Streams pass as they are. */
final class BrokenAnswer extends ServerHttpResponseDecorator {
  private static final int BYTES_MISSING = 100;

  private final Fault.OnBody fault;
  private final FaultClock clock;
  private final Line line;

  BrokenAnswer(ServerHttpResponse response, Fault.OnBody fault, FaultClock clock, Line line) {
    super(response);
    this.fault = fault;
    this.clock = clock;
    this.line = line;
  }

  @Override
  public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
    return switch (fault) {
      case Fault.LateBody(var pause) -> late(body, pause);
      case Fault.LostAnswer _ -> Mono.defer(this::lost);
      case Fault.BrokenList(var flaw) -> DataBufferUtils.join(body).map(BrokenAnswer::bytes)
          .flatMap(bytes -> broken(bytes, flaw));
    };
  }

  @Override
  public Mono<Void> setComplete() {
    return fault instanceof Fault.LostAnswer ? lost() : super.setComplete();
  }

  private Mono<Void> lost() {
    line.reset();
    return Mono.never();
  }

  private Mono<Void> late(Publisher<? extends DataBuffer> body, Pause pause) {
    var head = Flux.just(Flux.<DataBuffer>empty());
    return getDelegate().writeAndFlushWith(
        head.concatWith(Later.of(clock, pause).thenMany(Flux.just(Flux.<DataBuffer>from(body)))));
  }

  private Mono<Void> broken(byte[] bytes, Fault.BrokenList.Flaw flaw) {
    return switch (flaw) {
      case TRUNCATED -> cut(Arrays.copyOf(bytes, bytes.length / 2), bytes.length);
      case LENGTH_TOO_LARGE -> cut(bytes, bytes.length + BYTES_MISSING);
      case LENGTH_TOO_SMALL -> cut(bytes, bytes.length / 2);
      case NO_CONTENT_TYPE -> {
        getHeaders().remove("Content-Type");
        yield write(bytes, bytes.length);
      }
      case ITEMS_NULL -> whole(tree(bytes).putNull("items"));
      case NO_REVISION -> {
        var tree = tree(bytes);
        ((ObjectNode) tree.get("metadata")).remove("resourceVersion");
        yield whole(tree);
      }
    };
  }

  private Mono<Void> whole(ObjectNode tree) {
    var bytes = Json.bytes(tree);
    return write(bytes, bytes.length);
  }

  private Mono<Void> cut(byte[] bytes, int received) {
    line.endWithAnswer();
    return write(bytes, received);
  }

  private Mono<Void> write(byte[] bytes, int received) {
    getHeaders().setContentLength(received);
    return getDelegate()
        .writeWith(Mono.just(DefaultDataBufferFactory.sharedInstance.wrap(bytes)));
  }

  private static ObjectNode tree(byte[] bytes) {
    return (ObjectNode) Json.MAPPER.readTree(bytes);
  }

  private static byte[] bytes(DataBuffer joined) {
    var bytes = new byte[joined.readableByteCount()];
    joined.read(bytes);
    DataBufferUtils.release(joined);
    return bytes;
  }
}
