package dev.activator.simulation;

import dev.activator.http.HeaderFieldList;
import dev.activator.revision.Destination;
import dev.activator.simulation.SimulatedPods.Process;
import dev.activator.testing.StubUpstreamConnection;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPool;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** One loop's connections to an address. */
final class SimulatedPool implements UpstreamPool {
  private final SimulatedPods network;
  private final Random random;
  private final Destination to;
  private final List<Connection> idle = new ArrayList<>();

  SimulatedPool(SimulatedPods network, Random random, Destination to) {
    this.network = network;
    this.random = random;
    this.to = to;
  }

  @Override
  public String authority() {
    return to.toString();
  }

  @Override
  public @Nullable UpstreamConnection reuse(UpstreamListener listener) {
    return idle.isEmpty() ? null : idle.removeLast().lend(listener);
  }

  @Override
  public @Nullable UpstreamConnection reuseChecked(UpstreamListener listener) {
    idle.removeIf(one -> one.ended);
    return reuse(listener);
  }

  @Override
  public Dial dial(UpstreamListener listener) {
    var given = new boolean[1];
    var target = network.behind(to);
    if (target == null || !target.vanished && !target.hangs) {
      network.later(1, () -> {
        if (!given[0]) {
          connected(target, listener);
        }
      });
    }
    return () -> given[0] = true;
  }

  private void connected(@Nullable Process target, UpstreamListener listener) {
    if (target == null || !target.listens || target.vanished) {
      listener.failed(UpstreamFailure.REFUSED);
      return;
    }
    var made = new Connection(target);
    target.connections.add(made);
    made.listener = listener;
    listener.connected(made);
  }

  /** Carries one request at a time. */
  final class Connection extends StubUpstreamConnection {
    private final Process target;
    private @Nullable UpstreamListener listener;
    private @Nullable HttpRequest request;
    private boolean reused;
    private boolean headIsOut;
    private boolean requestEnded;
    private boolean responseEnded;
    private boolean running;
    /** Of the request that is counted as running; null if none is. */
    private @Nullable String sender;
    /** As the kernel here knows. */
    private boolean ended;

    Connection(Process target) {
      this.target = target;
    }

    Connection lend(UpstreamListener to) {
      listener = to;
      reused = true;
      request = null;
      headIsOut = false;
      requestEnded = false;
      responseEnded = false;
      return this;
    }

    boolean isRunning() {
      return running;
    }

    @Override
    public void write(HttpObject part) {
      if (part instanceof HttpRequest head) {
        request = head;
        sender = network.sender(head.headers().get(Callers.NUMBER));
        network.began(to, target, sender);
      }
      requestEnded |= part instanceof LastHttpContent;
      ReferenceCountUtil.release(part);
    }

    @Override
    public void flush() {
      if (request == null || ended) {
        if (ended) {
          network.later(1, this::failedIfLent);
        }
        return;
      }
      if (!headIsOut) {
        headIsOut = true;
        network.headLeft(request.headers().get(Callers.NUMBER));
      }
      if (requestEnded && !running) {
        running = true;
        var served = request;
        network.later(1, () -> serve(served));
      }
    }

    private void serve(HttpRequest served) {
      if (request != served || !target.connections.contains(this)) {
        return;
      }
      if (target.hangs) {
        target.stalled.add(() -> serve(served));
        return;
      }
      int status = target.meshed && to.equals(target.at) ? 503 : 200;
      network.later(random.nextInt(8) == 0 ? 2_000 : 60, () -> respond(served, status));
    }

    private void respond(HttpRequest served, int status) {
      if (request != served || !target.connections.contains(this)) {
        return;
      }
      if (target.hangs || target.vanished) {
        target.stalled.add(() -> respond(served, status));
        return;
      }
      running = false;
      var to = listener;
      if (to != null) {
        to.head(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status),
            HeaderFieldList.CHECKED));
      }
      if (listener != null) {
        responseEnded = true;
        listener.content(LastHttpContent.EMPTY_LAST_CONTENT);
      }
    }

    /** The other end is gone, and the news of it arrives. */
    void lost() {
      ended = true;
      failedIfLent();
    }

    private void failedIfLent() {
      var received = listener;
      listener = null;
      running = false;
      done();
      if (received != null) {
        received.failed(random.nextBoolean() ? UpstreamFailure.RESET : UpstreamFailure.CLOSED);
      }
    }

    private void done() {
      if (sender != null) {
        network.ended(to, target, sender);
        sender = null;
      }
      request = null;
    }

    @Override
    public boolean reused() {
      return reused;
    }

    @Override
    public boolean headIsOut() {
      return headIsOut;
    }

    @Override
    public void release() {
      listener = null;
      done();
      if (responseEnded && requestEnded && !ended) {
        idle.add(this);
      } else {
        close();
      }
    }

    @Override
    public void close() {
      listener = null;
      ended = true;
      done();
      running = false;
      target.connections.remove(this);
    }
  }
}
