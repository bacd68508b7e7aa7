package dev.activator.upstream;

import dev.activator.upstream.LoopConnectionPools.Http1Pool;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one loop to one pod that chooses the version of HTTP by ALPN. It chooses in the
 * handshake of the first connection; a pod that does not know ALPN gets HTTP/1.1.
 */
record NegotiatedPool(Http1Pool http1, Http2Pool http2) implements UpstreamPool {
  @Override
  public String authority() {
    return http1.authority();
  }

  @Override
  public @Nullable UpstreamConnection reuse(UpstreamListener listener) {
    return http1.isChosen() ? http1.reuse(listener) : http2.reuse(listener);
  }

  @Override
  public @Nullable UpstreamConnection reuseChecked(UpstreamListener listener) {
    return http1.isChosen() ? http1.reuseChecked(listener) : http2.reuseChecked(listener);
  }

  @Override
  public Dial dial(UpstreamListener listener) {
    return http1.isChosen() ? http1.dial(listener) : http2.dial(listener);
  }
}
