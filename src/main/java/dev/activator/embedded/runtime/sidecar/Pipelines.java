package dev.activator.embedded.runtime.sidecar;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;

/** The order of handlers on a caller's connection, for either protocol. */
final class Pipelines {
  private static final int MAX_LINE_BYTES = 64 << 10;
  private static final int MAX_HEADERS_BYTES = 1 << 20;
  private static final int CHUNK_BYTES = 32 << 10;

  private Pipelines() {}

  static void addHttp1(Channel connection, Sidecar sidecar) {
    connection.config().setAutoRead(false);
    connection.pipeline().addLast(
        new HttpServerCodec(MAX_LINE_BYTES, MAX_HEADERS_BYTES, CHUNK_BYTES),
        new HttpServerKeepAliveHandler(),
        // One part a read: the codec makes many of one buffer.
        new OneByOne(), CallerHandler.ofHttp1(sidecar));
  }

  static void addHttp2(Channel connection, Sidecar sidecar) {
    var settings = Http2Settings.defaultSettings().maxHeaderListSize(MAX_HEADERS_BYTES);
    var streams = new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel stream) {
        stream.config().setAutoRead(false);
        stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true),
            new OneByOne(), CallerHandler.ofHttp2(sidecar));
      }
    };
    connection.pipeline().addLast(
        Http2FrameCodecBuilder.forServer().initialSettings(settings).build(),
        new Http2MultiplexHandler(streams));
  }
}
