package dev.activator.upstream;

import dev.activator.tls.Peer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The HTTP/1 connections of one loop to one pod. */
final class Http1Pool implements UpstreamPool {
  private final Peer peer;
  private final UpstreamPools pools;
  private final Dialer dialer;
  private final int maxIdle;
  private final String authority;
  private final Deque<Http1PodConnection> idle = new ArrayDeque<>();
  private int open;

  Http1Pool(Peer peer, UpstreamPools pools, Dialer dialer, int maxIdle) {
    this.peer = peer;
    this.pools = pools;
    this.dialer = dialer;
    this.maxIdle = maxIdle;
    this.authority = peer.destination().toString();
  }

  @Override
  public String authority() {
    return authority;
  }

  /** The connection used last. */
  @Override
  public @Nullable Http1PodConnection reuse(UpstreamListener listener) {
    var connection = idle.pollFirst();
    if (connection != null) {
      pools.noLongerIdle(connection);
      connection.lend(listener);
    }
    return connection;
  }

  @Override
  public @Nullable Http1PodConnection reuseChecked(UpstreamListener listener) {
    var connection = reuse(listener);
    while (connection != null && !pools.checks().isUsable(connection.channel())) {
      connection.close();
      connection = reuse(listener);
    }
    return connection;
  }

  @Override
  public Dial dial(UpstreamListener listener) {
    if (open == 0) {
      // Closing a dead connection may have been the end of this pool.
      pools.remember(peer, this);
    }
    open++;
    return dialer.dial(peer, new Dialer.DialListener() {
      @Override
      public void addHandlers(ChannelPipeline pipeline) {
        Http1PodConnection.addCodecs(pipeline);
      }

      @Override
      public void connected(Channel channel) {
        Http1PodConnection.open(channel, Http1Pool.this, listener);
      }

      @Override
      public void failed(UpstreamFailure failure) {
        gone();
        listener.failed(failure);
      }

      @Override
      public void cancelled() {
        gone();
      }
    });
  }

  void opened(Http1PodConnection connection) {
    pools.checks().add(connection);
  }

  /** False if the connection should be closed. */
  boolean giveBack(Http1PodConnection connection) {
    boolean kept = idle.size() < maxIdle && pools.keep(connection);
    if (kept) {
      idle.addFirst(connection);
    }
    return kept;
  }

  void drop(Http1PodConnection connection) {
    pools.noLongerIdle(connection);
    // Those that end by themselves are mostly the oldest, which are last.
    idle.removeLastOccurrence(connection);
  }

  /** A connection was closed, or a dial failed. */
  void gone() {
    open--;
    if (open == 0) {
      pools.forget(peer, this);
    }
  }
}
