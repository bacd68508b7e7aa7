package dev.activator.ext.otel;

import dev.activator.observability.HttpLabels;
import dev.activator.observability.RequestTimeline;
import dev.activator.observability.MetricDefinition.Names;
import dev.activator.revision.KnownLabels;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import java.util.Locale;

/**
 * The attributes of spans.
 *
 * <p><b>Source.</b> OpenTelemetry's semantic conventions for HTTP, 1.41.
 */
final class SpanAttributes {
  private SpanAttributes() {}

  /** The name of the server's span; {@code HTTP} if the method is not standard. */
  static String serverName(String method) {
    var label = HttpLabels.methodLabel(method);
    return label.equals(HttpLabels.OTHER) ? "HTTP" : label;
  }

  static String clientName(RequestTimeline request) {
    return serverName(request.method()) + " " + path(request);
  }

  private static String path(RequestTimeline request) {
    String path = request.path();
    int query = path.indexOf('?');
    String bare = query < 0 ? path : path.substring(0, query);
    return bare.isEmpty() ? "/" : bare;
  }

  static Attributes server(RequestTimeline request) {
    var host = HttpLabels.Host.parse(request.host());
    var all = Attributes.builder().put("server.address", host.name())
        .put("http.request.method", HttpLabels.methodLabel(request.method()))
        .put("url.scheme", scheme(request.secure()))
        .put("network.peer.address", request.peer())
        .put("network.peer.port", request.peerPort()).put("client.address", client(request))
        .put("url.path", path(request)).put("network.protocol.version", version(request));
    if (!host.port().isEmpty()) {
      all.put("server.port", Long.parseLong(host.port()));
    }
    var agent = request.header("User-Agent");
    if (agent != null) {
      all.put("user_agent.original", agent);
    }
    return all.build();
  }

  static Attributes sent(RequestTimeline request) {
    var all = Attributes.builder()
        .put("http.request.method", HttpLabels.methodLabel(request.method()))
        .put("network.protocol.version", request.podInHttp2() ? "2.0" : "1.1");
    var destination = request.destination();
    if (destination != null) {
      all.put("server.address", destination.host()).put("server.port", destination.port())
          .put("url.full", scheme(request.podSecure()) + "://" + destination + request.path());
    }
    return all.build();
  }

  private static String scheme(boolean secure) {
    return secure ? "https" : "http";
  }

  private static String version(RequestTimeline request) {
    String protocol = request.protocol().toLowerCase(Locale.ROOT);
    return protocol.startsWith("http/") ? protocol.substring(5) : protocol;
  }

  /** The address of the client: the first one that proxies have added, or else that of the peer. */
  private static String client(RequestTimeline request) {
    var noted = request.header("X-Forwarded-For");
    if (noted == null) {
      return request.peer();
    }
    int comma = noted.indexOf(',');
    return (comma < 0 ? noted : noted.substring(0, comma)).strip();
  }

  static void finishServer(Span span, RequestTimeline request) {
    span.setAttribute("http.request.body.size", request.requestBytes());
    span.setAttribute("http.response.body.size", request.responseBytes());
    span.setAttribute("http.response.status_code", request.status());
    if (request.status() >= 500) {
      span.setStatus(StatusCode.ERROR);
    }
    var revision = request.revision();
    if (revision != null) {
      span.setAttribute(Names.SERVICE, HttpLabels.label(revision, KnownLabels.SERVICE));
      span.setAttribute(Names.CONFIGURATION, HttpLabels.label(revision, KnownLabels.CONFIGURATION));
      span.setAttribute(Names.REVISION, revision.id().name());
      span.setAttribute(Names.NAMESPACE, revision.id().namespace());
    }
  }

  static void finishClient(Span span, RequestTimeline request) {
    var failure = request.failure();
    var outcome = request.outcome();
    if (request.responded()) {
      span.setAttribute("http.response.status_code", request.responseStatus());
    }
    if (failure != null) {
      span.setAttribute("error.type", failure.replace(' ', '_'));
      span.setStatus(StatusCode.ERROR, failure);
    } else if (outcome != null && !outcome.served()) {
      span.setAttribute("error.type", outcome.toString());
      span.setStatus(StatusCode.ERROR, outcome.toString());
    } else if (request.responseStatus() >= 400) {
      span.setStatus(StatusCode.ERROR);
    }
  }
}
