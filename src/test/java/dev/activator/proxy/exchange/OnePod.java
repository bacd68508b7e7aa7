package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.VirtualLoop;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.concurrent.atomic.AtomicInteger;

/** A caller, a permit, and a pod that does nothing by itself, in virtual time. */
final class OnePod {
  private static final Revision HELLO = Revision.of(new RevisionId("default", "hello-00001"), 0);

  final VirtualLoop loop = VirtualLoop.nearOverflow();
  final FakePod pod = new FakePod();
  final FakeThrottle throttle = new FakeThrottle();
  final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(256 << 20));
  final SilentCaller caller = new SilentCaller(loop);
  /** Requests that were not counted out. */
  final AtomicInteger counted = new AtomicInteger();
  private final RequestDispatcher dispatcher;

  OnePod() {
    this(HELLO);
  }

  OnePod(Revision revision) {
    dispatcher = Dispatchers.of(loop, revision, throttle::admit, pod, held.share(),
        new RequestCounts() {
          @Override
          public void arrived(RevisionId id) {
            counted.incrementAndGet();
          }

          @Override
          public void left(RevisionId id) {
            counted.decrementAndGet();
          }
        });
    throttle.grow(new Destination("10.1.1.1", 8012), 1);
  }

  /** Begins the exchange of a request without fields. */
  Exchange send(HttpVersion version, HttpMethod method) {
    return send(new DefaultHttpRequest(version, method, "/", HeaderFieldList.CHECKED));
  }

  Exchange send(HttpRequest request) {
    request(request);
    return caller.exchange();
  }

  /** It may end at once. */
  void request(HttpRequest request) {
    Dispatchers.dispatch(dispatcher, request, caller);
  }
}
