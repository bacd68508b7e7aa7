package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/** The connection pools of one event loop, by pod. */
public interface PodConnectionPools {
  /**
   * The pool for a pod. Look it up for each request, because a pool without connections is removed.
   *
   * @param identity of a pod that speaks TLS itself; null for others
   */
  UpstreamPool to(Destination pod, LiveRevision revision, @Nullable PodIdentity identity,
      PortProtocol protocol);

  /**
   * Opens a connection for bytes that are not HTTP. It belongs to the caller, and to no pool.
   *
   * @param listener called later, never inside the call
   */
  UpstreamPool.Dial open(Destination pod, OpenListener listener);

  /** Gets the outcome of {@link #open}, by one call, unless the dial is cancelled. */
  interface OpenListener {
    /** The channel has no handlers, and reads when the listener lets it. */
    void connected(Channel channel);

    void failed(UpstreamFailure failure);
  }

  /** The address to which requests are sent. Over TLS to a queue-proxy it has another port. */
  Destination address(Destination pod, LiveRevision revision, @Nullable PodIdentity identity);

  /** Whether requests are sent over TLS to a pod with this identity. */
  boolean isSecure(@Nullable PodIdentity identity);
}
