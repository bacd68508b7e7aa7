package dev.activator.proxy.exchange;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.LocalResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A caller that only waits, with one timer for its deadlines as a connection has. */
final class SilentCaller implements Downstream {
  static final Caller AT = new Caller("10.1.2.3", 40_000, false);

  private final DeadlineTimer timer;
  private @Nullable Exchange exchange;
  /** The statuses of what it was told, the last of them that of a failure. */
  final List<Integer> statuses = new ArrayList<>();

  SilentCaller(Loop loop) {
    this.timer = new DeadlineTimer(loop, this::check);
  }

  /** The one that began last, and has not ended. */
  Exchange exchange() {
    return Objects.requireNonNull(exchange);
  }

  private void check() {
    long left = exchange == null ? Long.MAX_VALUE : exchange.checkDeadlines();
    if (left != Long.MAX_VALUE) {
      timer.within(left);
    }
  }

  @Override
  public Caller caller() {
    return AT;
  }

  @Override
  public void begin(Exchange begun) {
    exchange = begun;
  }

  @Override
  public void checkWithin(long nanos) {
    timer.within(nanos);
  }

  @Override
  public void interim(HttpResponse head) {
    statuses.add(head.status().code());
  }

  @Override
  public void head(HttpResponse head) {
    statuses.add(head.status().code());
  }

  @Override
  public void content(HttpContent content) {
    ReferenceCountUtil.release(content);
  }

  @Override
  public void answer(LocalResponse answer) {
    statuses.add(answer.status());
  }

  @Override
  public void answer(Failure failure) {
    answer(failure.answer());
  }

  @Override
  public void abort() {
    exchange = null;
  }

  @Override
  public void drainWithin(long nanos) {}

  @Override
  public void ended() {
    exchange = null;
  }

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
