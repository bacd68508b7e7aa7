package dev.activator.embedded.runtime.sidecar;

import dev.activator.embedded.runtime.policy.Forwarded;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a sidecar changes in the head of a request and of its response; everything else passes.
 *
 * <p>
 * <b>Source.</b> RFC 9110, 7.6.1; {@code pkg/http/proxy.go} in Knative Serving.
 */
final class Headers {
  private static final List<String> HOP_BY_HOP = List.of("Connection", "Proxy-Connection",
      "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Upgrade");

  private Headers() {}

  /** The request as the process shall see it. */
  static void forProcess(HttpRequest request, @Nullable SocketAddress peer) {
    var headers = request.headers();
    String upgrade = upgrade(headers);
    removeHopByHop(headers);
    if (upgrade != null) {
      headers.set("Connection", "Upgrade").set("Upgrade", upgrade);
    }
    String originalHost = headers.get("K-Original-Host", "");
    if (!originalHost.isEmpty()) {
      headers.set("Host", originalHost);
    }
    headers.remove("K-Original-Host").remove("Knative-Serving-Revision")
        .remove("Knative-Serving-Namespace");
    addForwarded(headers, peer);
  }

  /** The response as the caller shall see it. */
  static void forCaller(HttpResponse response, HttpVersion spoken, boolean bodyAllowed) {
    var headers = response.headers();
    removeHopByHop(headers);
    boolean framed = headers.contains("Content-Length") || HttpUtil.isTransferEncodingChunked(
        response);
    // The process ends this body by closing; the caller's connection lives on.
    if (!framed && bodyAllowed && spoken.equals(HttpVersion.HTTP_1_1)) {
      HttpUtil.setTransferEncodingChunked(response, true);
    }
    response.setProtocolVersion(HttpVersion.HTTP_1_1);
  }

  /** What the request asks to go over to; null when it does not. */
  static @Nullable String upgrade(HttpHeaders headers) {
    return headers.containsValue("Connection", "upgrade", true) ? headers.get("Upgrade") : null;
  }

  private static void removeHopByHop(HttpHeaders headers) {
    var named = new ArrayList<String>();
    for (String value : headers.getAll("Connection")) {
      for (String name : value.split(",", -1)) {
        named.add(name.strip());
      }
    }
    named.stream().filter(name -> !name.isEmpty()).forEach(headers::remove);
    HOP_BY_HOP.forEach(headers::remove);
  }

  private static void addForwarded(HttpHeaders headers, @Nullable SocketAddress peer) {
    var hops = new ArrayList<>(headers.getAll("X-Forwarded-For"));
    String known = String.join(", ", hops);
    if (!headers.contains("Forwarded")) {
      String forwarded = Forwarded.of(known, headers.get("X-Forwarded-Host", ""),
          headers.get("X-Forwarded-Proto", ""));
      if (!forwarded.isEmpty()) {
        headers.set("Forwarded", forwarded);
      }
    }
    if (peer instanceof InetSocketAddress address) {
      hops.add(address.getAddress().getHostAddress());
      headers.set("X-Forwarded-For", String.join(", ", hops));
    }
  }
}
