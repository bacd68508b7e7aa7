package dev.activator.http;

import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionEncoder;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2PromisedRequestVerifier;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.StreamByteDistributor;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The Netty objects of an HTTP/2 connection, with limits against floods.
 *
 * <p><b>Source.</b> RFC 9113, section 10.5; CVE-2019-9512 and following.
 */
public final class Http2Setup {
  /** Limits what a peer may send, before each of its frames is read. */
  @FunctionalInterface
  public interface FrameGuard {
    FrameGuard NONE = (_, _, _) -> true;

    /**
     * Called when the header of a frame is complete. The frame stays unread if the result is false.
     */
    boolean mayBegin(int type, int flags, int length) throws Http2Exception;

    /**
     * @param partialHeadBytes with frame headers; 0 if no head is incomplete
     * @param tableBytes the bytes that the HPACK table may hold beyond its nominal size
     */
    default void readEnds(int partialHeadBytes, int tableBytes) {}
  }

  /** The maximum number of queued answers to PING, SETTINGS and errors. */
  private static final int MAX_QUEUED_CONTROL_FRAMES = 1_000;

  private final Http2Settings settings;
  private final FrameReader reader;
  private final FrameWriter writer = new FrameWriter(MAX_QUEUED_CONTROL_FRAMES);
  private final Http2ConnectionEncoder encoder;
  private final Http2ConnectionDecoder decoder;
  private final @Nullable PendingBytes pending;

  private Http2Setup(boolean ofServer, Http2Settings settings, FrameGuard limits) {
    this.settings = settings;
    var connection = new DefaultHttp2Connection(ofServer, 0);
    // Priorities are deprecated, and the priority tree costs more than it gives.
    var distributor = new UniformStreamByteDistributor(connection);
    this.pending = ofServer ? new PendingBytes(distributor) : null;
    connection.remote().flowController(new DefaultHttp2RemoteFlowController(connection,
        pending == null ? distributor : pending));
    this.reader = new FrameReader(
        new IncomingHttp2Head.Decoder(ofServer,
            Objects.requireNonNull(settings.maxHeaderListSize())),
        limits);
    this.encoder = new DefaultHttp2ConnectionEncoder(connection, writer);
    this.decoder = new DefaultHttp2ConnectionDecoder(connection, encoder, reader,
        Http2PromisedRequestVerifier.ALWAYS_VERIFY, true, true, true, true);
  }

  public static Http2Setup server(Http2Settings settings, FrameGuard limits) {
    return new Http2Setup(true, settings, limits);
  }

  public static Http2Setup client(Http2Settings settings, FrameGuard limits) {
    return new Http2Setup(false, settings, limits);
  }

  public Http2Settings settings() {
    return settings;
  }

  Http2ConnectionEncoder encoder() {
    return encoder;
  }

  Http2ConnectionDecoder decoder() {
    return decoder;
  }

  void connect(AbstractHttp2Handler<?> endpoint, ReadTurn turn) {
    reader.limit(turn);
    writer.onOverLimit(endpoint::tooManyControlFrames);
    writer.onMessageFrame(endpoint::wroteMessageFrame);
    if (pending != null) {
      pending.endpoint = endpoint;
    }
  }

  /**
   * Reports the pending bytes of streams to the handler. Netty reports them only to the
   * distributor.
   */
  private static final class PendingBytes implements StreamByteDistributor {
    private final UniformStreamByteDistributor distributor;
    private @Nullable AbstractHttp2Handler<?> endpoint;

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
