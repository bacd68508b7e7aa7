package dev.activator.upstream.codec;

import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.StreamByteDistributor;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import org.jspecify.annotations.Nullable;

/**
 * Builds the handler of an HTTP/2 connection, with limits against floods.
 *
 * <p><b>Source.</b> RFC 9113, section 10.5; CVE-2019-9512 and following, CVE-2023-44487 (rapid
 * reset), CVE-2024-27316 (CONTINUATION).
 */
public final class Http2Setup<T extends Http2Endpoint>
    extends AbstractHttp2ConnectionHandlerBuilder<T, Http2Setup<T>> {
  /**
   * Streams that a caller may make us reset within the window; many callers may share an ingress.
   */
  public static final int MAX_RESETS = 1_000;
  /** Queued answers to PING, SETTINGS and resets. */
  public static final int MAX_QUEUED_CONTROL_FRAMES = 1_000;

  private static final int RESET_WINDOW_SECONDS = 10;
  private static final long LAST_FRAMES_MILLIS = 2_000;
  private static final int MAX_EMPTY_DATA_FRAMES = 10;
  private static final int MAX_SMALL_CONTINUATION_FRAMES = 16;

  @FunctionalInterface
  public interface Maker<T> {
    T make(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder,
        Http2Settings settings);
  }

  private final Maker<T> maker;
  private final @Nullable PendingBytes pending;

  private Http2Setup(boolean ofServer, Http2Settings settings, Maker<T> maker) {
    this.maker = maker;
    var connection = new DefaultHttp2Connection(ofServer, 0);
    // Priorities are deprecated, and their tree costs more than it gives.
    var distributor = new UniformStreamByteDistributor(connection);
    this.pending = ofServer ? new PendingBytes(distributor) : null;
    connection.remote().flowController(new DefaultHttp2RemoteFlowController(connection,
        pending == null ? distributor : pending));
    connection(connection);
    initialSettings(settings);
    validateHeaders(true);
    validateRequiredPseudoHeaders(true);
    // The setting is advisory, and the other end enforces it.
    encoderIgnoreMaxHeaderListSize(true);
    // Closing the channel sends no GOAWAY; callers do where it is due.
    decoupleCloseAndGoAway(true);
    gracefulShutdownTimeoutMillis(LAST_FRAMES_MILLIS);
    encoderEnforceMaxQueuedControlFrames(MAX_QUEUED_CONTROL_FRAMES);
    decoderEnforceMaxConsecutiveEmptyDataFrames(MAX_EMPTY_DATA_FRAMES);
    decoderEnforceMaxSmallContinuationFrames(MAX_SMALL_CONTINUATION_FRAMES);
  }

  /** The caller's resets count as control frames. */
  public static <T extends Http2Endpoint> T server(Http2Settings settings,
      Maker<T> maker) {
    return new Http2Setup<>(true, settings, maker)
        .decoderEnforceMaxRstFramesPerWindow(0, 0)
        .encoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESET_WINDOW_SECONDS).build();
  }

  /** A pod can reset only streams opened to it. */
  public static <T extends Http2Endpoint> T client(Http2Settings settings,
      Maker<T> maker) {
    return new Http2Setup<>(false, settings, maker).decoderEnforceMaxRstFramesPerWindow(0, 0)
        .encoderEnforceMaxRstFramesPerWindow(0, 0).build();
  }

  @Override
  protected T build(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder,
      Http2Settings settings) {
    var made = maker.make(decoder, encoder, settings);
    if (pending != null) {
      pending.endpoint = made;
    }
    return made;
  }

  /** Netty reports a stream's pending bytes only to the distributor. */
  private static final class PendingBytes implements StreamByteDistributor {
    private final UniformStreamByteDistributor distributor;
    private @Nullable Http2Endpoint endpoint;

    private PendingBytes(UniformStreamByteDistributor distributor) {
      this.distributor = distributor;
    }

    @Override
    public void updateStreamableBytes(StreamState state) {
      distributor.updateStreamableBytes(state);
      if (endpoint != null) {
        endpoint.pendingBytes(state.stream(), state.pendingBytes());
      }
    }

    @Override
    public void updateDependencyTree(int child, int parent, short weight, boolean exclusive) {
      distributor.updateDependencyTree(child, parent, weight, exclusive);
    }

    @Override
    public boolean distribute(int maxBytes, Writer writer) throws Http2Exception {
      return distributor.distribute(maxBytes, writer);
    }
  }
}
