package dev.activator.ext.rules;

import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.testing.StubDownstream;
import io.netty.handler.codec.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Records the statuses that a caller gets, and the activator's own response. */
final class RecordingCaller extends StubDownstream {
  final List<Integer> statuses = new ArrayList<>();
  @Nullable LocalResponse answer;

  RecordingCaller(Loop loop) {
    super(loop);
  }

  Exchange exchange() {
    return Objects.requireNonNull(exchange);
  }

  @Override
  public void head(HttpResponse head) {
    statuses.add(head.status().code());
  }

  @Override
  public void answer(LocalResponse local) {
    answer = local;
    statuses.add(local.status());
  }

  @Override
  public void abort() {
    exchange = null;
  }

  @Override
  public void ended() {
    exchange = null;
  }
}
