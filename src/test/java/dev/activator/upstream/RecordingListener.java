package dev.activator.upstream;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Keeps what it is called with, and does what a test says with its connection. */
class RecordingListener implements UpstreamListener {
  final StringBuilder body = new StringBuilder();
  boolean complete;
  @Nullable UpstreamFailure failure;
  private final Consumer<UpstreamConnection> onConnected;
  private final Runnable onFailed;

  RecordingListener() {
    this(_ -> {
    }, () -> {
    });
  }

  RecordingListener(Consumer<UpstreamConnection> onConnected, Runnable onFailed) {
    this.onConnected = onConnected;
    this.onFailed = onFailed;
  }

  @Override
  public void connected(UpstreamConnection connection) {
    onConnected.accept(connection);
  }

  @Override
  public void interim(HttpResponse head) {}

  @Override
  public void head(HttpResponse head) {}

  @Override
  public void content(HttpContent content) {
    body.append(content.content().toString(StandardCharsets.US_ASCII));
    complete |= content instanceof LastHttpContent;
    content.release();
  }

  @Override
  public void readComplete() {}

  @Override
  public void writabilityChanged() {}

  @Override
  public void failed(UpstreamFailure why) {
    failure = why;
    onFailed.run();
  }
}
