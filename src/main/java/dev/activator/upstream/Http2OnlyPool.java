package dev.activator.upstream;

import org.jspecify.annotations.Nullable;

/**
 * The connections of one loop to one pod that may also speak HTTP/1, for requests that need HTTP/2,
 * such as gRPC. A new connection offers only HTTP/2, as a pod may prefer HTTP/1.
 *
 * @param http2 those that only such requests have opened
 * @param others those of other requests, as far as the pod has chosen HTTP/2
 */
record Http2OnlyPool(Http2Pool http2, Http2Pool others) implements UpstreamPool {
  @Override
  public String authority() {
    return http2.authority();
  }

  @Override
  public @Nullable UpstreamConnection reuse(UpstreamListener listener) {
    var open = others.reuse(listener);
    return open == null ? http2.reuse(listener) : open;
  }

  @Override
  public @Nullable UpstreamConnection reuseChecked(UpstreamListener listener) {
    var open = others.reuseChecked(listener);
    return open == null ? http2.reuseChecked(listener) : open;
  }

  @Override
  public @Nullable UpstreamFailure refusal() {
    return http2.refusal();
  }

  @Override
  public Dial dial(UpstreamListener listener) {
    return http2.dial(listener);
  }
}
