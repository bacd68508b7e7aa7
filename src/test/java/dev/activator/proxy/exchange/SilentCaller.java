package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.Answer;
import dev.activator.proxy.policy.Failure;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;

/** A caller who only waits, and for whom no request may fail. */
final class SilentCaller implements Downstream {
  @Override
  public void interim(HttpResponse head) {}

  @Override
  public void switched(HttpResponse head) {}

  @Override
  public void head(HttpResponse head) {}

  @Override
  public void content(HttpContent content) {}

  @Override
  public void answer(Answer answer) {
    throw new AssertionError(answer);
  }

  @Override
  public void answer(Failure failure) {
    throw new AssertionError(failure);
  }

  @Override
  public void abort() {}

  @Override
  public void ended() {}

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
