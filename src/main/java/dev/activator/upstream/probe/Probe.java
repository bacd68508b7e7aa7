package dev.activator.upstream.probe;

import dev.activator.loop.Loop;
import dev.activator.upstream.Dial;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPools;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One question in HTTP/1.1 and its answer. */
public final class Probe implements UpstreamListener {
  /** The rest of a longer answer is not read: its connection is closed. */
  private static final int READ_BYTES = 64 << 10;

  private final UpstreamPools pools;
  private final ProbeRequest request;
  private final PendingAnswer pending;
  private final AnswerText body = new AnswerText();
  private @Nullable Dial dial;
  private @Nullable UpstreamConnection connection;
  private @Nullable HttpResponse head;
  private int readBytes;

  Probe(UpstreamPools pools, ProbeRequest request, Consumer<ProbeAnswer> done) {
    this.pools = pools;
    this.request = request;
    this.pending = new PendingAnswer(request.timeout(), this::close, done);
  }

  /** The time runs, from now on. */
  void begin(Loop loop) {
    pending.begin(loop);
  }

  void start() {
    if (pending.isGiven()) {
      return;
    }
    var pool = pools.plain(request.destination());
    var open = pool.reuse(this);
    if (open != null) {
      connected(open);
    } else {
      dial = pool.dial(this);
    }
  }

  @Override
  public void connected(UpstreamConnection open) {
    connection = open;
    var question = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, request.path());
    question.headers().set(HttpHeaderNames.HOST, request.host());
    request.headers().forEach(question.headers()::set);
    open.write(question);
    open.write(LastHttpContent.EMPTY_LAST_CONTENT);
    open.flush();
  }

  @Override
  public void interim(HttpResponse ignored) {
    // A probe waits for the answer itself.
  }

  @Override
  public void head(HttpResponse answer) {
    head = answer;
  }

  @Override
  public void switched(HttpResponse answer) {
    pending.give(new ProbeAnswer.Failed("the pod switched protocols unasked"));
  }

  @Override
  public void content(HttpContent content) {
    try {
      keep(content);
    } finally {
      content.release();
    }
    if (content instanceof LastHttpContent) {
      answered();
    } else if (readBytes > READ_BYTES && head != null) {
      pending.give(new ProbeAnswer.Answered(head.status().code(), body.toString()));
    }
  }

  private void keep(HttpContent content) {
    var bytes = content.content();
    readBytes += bytes.readableBytes();
    body.keep(bytes);
  }

  private void answered() {
    if (connection != null && head != null) {
      connection.release();
      connection = null;
      pending.give(new ProbeAnswer.Answered(head.status().code(), body.toString()));
    }
  }

  @Override
  public void readComplete() {
    // Nothing is passed on, so there is nothing to flush.
  }

  @Override
  public void writabilityChanged() {
    // The question is a few hundred bytes.
  }

  @Override
  public void failed(UpstreamFailure failure) {
    var ended = connection;
    connection = null;
    if (ended == null) {
      pending.give(new ProbeAnswer.Failed(failure.text()));
    } else if (ended.reused() && head == null) {
      dial = pools.plain(request.destination()).dial(this);
    } else {
      pending.give(new ProbeAnswer.Unintelligible(failure.text()));
    }
  }

  private void close() {
    if (dial != null) {
      dial.cancel();
    }
    if (connection != null) {
      connection.close();
    }
  }
}
