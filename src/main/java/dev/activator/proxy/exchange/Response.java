package dev.activator.proxy.exchange;

import dev.activator.observability.ServerTiming;
import dev.activator.proxy.policy.Failure;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;

/**
 * What one exchange's caller gets, and when something of it was written.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 */
final class Response {
  private final Downstream downstream;
  private final TimeLeft time;
  private final HttpPassage passage;
  private boolean begun;
  private boolean switched;

  Response(Downstream downstream, TimeLeft time, HttpPassage passage) {
    this.downstream = downstream;
    this.time = time;
    this.passage = passage;
  }

  void interim(HttpResponse head) {
    time.wrote();
    downstream.interim(head);
    downstream.flush();
  }

  /** The pod has not said whether it wants the body, and will get it now. */
  void askForBody() {
    downstream.interim(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
    downstream.flush();
  }

  void head(HttpResponse head) {
    time.wrote();
    begun = true;
    boolean timed = passage.wantsTiming();
    passage.responding(head.status().code());
    if (timed) {
      head.headers().add(ServerTiming.HEADER, ServerTiming.of(passage));
    }
    downstream.head(head);
  }

  /** The pod agrees to another protocol: what comes from now on, either way, are its bytes. */
  void switched(HttpResponse head) {
    time.wrote();
    begun = true;
    switched = true;
    passage.responding(head.status().code());
    downstream.switched(head);
    downstream.flush();
  }

  void content(HttpContent part) {
    time.wrote();
    passage.wrote(part.content().readableBytes());
    downstream.content(part);
  }

  /** Whether bytes of another protocol go both ways. */
  boolean isSwitched() {
    return switched;
  }

  void flush() {
    downstream.flush();
  }

  /** An answer of ours; or, where a response has begun, its being broken off. */
  void fail(Failure failure) {
    if (begun) {
      downstream.abort();
    } else {
      downstream.answer(failure);
      downstream.ended();
    }
  }
}
