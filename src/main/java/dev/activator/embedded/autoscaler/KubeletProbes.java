package dev.activator.embedded.autoscaler;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;

/** Answers the kubelet's probes, at any path; everything else passes. */
final class KubeletProbes extends ChannelInboundHandlerAdapter {
  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof FullHttpRequest request && isKubelet(request.headers())) {
      request.release();
      var ok = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      HttpUtil.setContentLength(ok, 0);
      context.writeAndFlush(ok).addListener(ChannelFutureListener.CLOSE);
    } else {
      context.fireChannelRead(message);
    }
  }

  private static boolean isKubelet(HttpHeaders headers) {
    return headers.get("User-Agent", "").startsWith("kube-probe/")
        || !headers.get("K-Kubelet-Probe", "").isEmpty();
  }
}
