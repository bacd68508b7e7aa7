package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.testing.StubDownstream;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Records the statuses and bodies it gets. */
final class SilentCaller extends StubDownstream {
  /** The statuses of what it was told, the last of them that of a failure. */
  final List<Integer> statuses = new ArrayList<>();

  private final StringBuilder body = new StringBuilder();
  private boolean aborted;
  private boolean reading;

  SilentCaller(Loop loop) {
    super(loop);
  }

  String body() {
    return body.toString();
  }

  /** Whether a response was broken off. */
  boolean aborted() {
    return aborted;
  }

  /** Reads on, with bytes left in its socket. */
  void reads(boolean now) {
    reading = now;
  }

  @Override
  public boolean hasRead(long nanos) {
    return reading;
  }

  @Override
  public void content(HttpContent part) {
    body.append(part.content().toString(StandardCharsets.US_ASCII));
    super.content(part);
  }

  /** The one that began last, and has not ended. */
  Exchange exchange() {
    return Objects.requireNonNull(exchange);
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
  public void answer(LocalResponse answer) {
    statuses.add(answer.status());
  }

  @Override
  public void abort() {
    aborted = true;
    exchange = null;
  }

  @Override
  public void ended() {
    exchange = null;
  }
}
