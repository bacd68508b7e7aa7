package dev.activator.testing;

import dev.activator.proxy.hostile.Caller;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.Exchange;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/** A caller that reads everything at once, with one timer for its exchange's deadlines. */
public abstract class StubDownstream implements Downstream {
  public static final Caller ADDRESS = new Caller("10.1.2.3", 40_000, false);

  private final ResettableTimer timer;
  /** Null before the first one, and once it has ended. */
  protected @Nullable Exchange exchange;

  protected StubDownstream(Loop loop) {
    timer = new ResettableTimer(loop, this::checkDeadlines);
  }

  private void checkDeadlines() {
    long left = exchange == null ? Long.MAX_VALUE : exchange.checkDeadlines();
    if (left != Long.MAX_VALUE) {
      timer.within(left);
    }
  }

  @Override
  public Caller caller() {
    return ADDRESS;
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
  public void interim(HttpResponse head) {}

  @Override
  public void content(HttpContent content) {
    ReferenceCountUtil.release(content);
  }

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
