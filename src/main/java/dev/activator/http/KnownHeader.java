package dev.activator.http;

import io.netty.util.AsciiString;

/** The HTTP headers that the request path reads or writes. */
public enum KnownHeader {
  ACCEPT("Accept"),
  AUTHORIZATION("Authorization"),
  CONNECTION("Connection"),
  CONTENT_LENGTH("Content-Length"),
  CONTENT_TYPE("Content-Type"),
  ENVOY_EXPECTED_TIMEOUT_MS("X-Envoy-Expected-Rq-Timeout-Ms"),
  EXPECT("Expect"),
  GRPC_TIMEOUT("grpc-timeout"),
  HOST("Host"),
  IDEMPOTENCY_KEY("Idempotency-Key"),
  KUBELET_PROBE("K-Kubelet-Probe"),
  NETWORK_HASH("K-Network-Hash"),
  NETWORK_PROBE("K-Network-Probe"),
  ORIGINAL_HOST("K-Original-Host"),
  PASSTHROUGH("K-Passthrough-Lb"),
  PROXY_REQUEST("K-Proxy-Request"),
  KEEP_ALIVE("Keep-Alive"),
  REQUEST_TIMEOUT("Request-Timeout"),
  REVISION_NAMESPACE("Knative-Serving-Namespace"),
  REVISION("Knative-Serving-Revision"),
  PROXY_AUTHENTICATE("Proxy-Authenticate"),
  PROXY_AUTHORIZATION("Proxy-Authorization"),
  PROXY_CONNECTION("Proxy-Connection"),
  SEC_FETCH_MODE("Sec-Fetch-Mode"),
  SEC_PURPOSE("Sec-Purpose"),
  TE("TE"),
  TRAILER("Trailer"),
  TRANSFER_ENCODING("Transfer-Encoding"),
  UPGRADE("Upgrade"),
  USER_AGENT("User-Agent"),
  FORWARDED_FOR("X-Forwarded-For"),
  HTTP2_SETTINGS("HTTP2-Settings"),
  TRACEPARENT("traceparent"),
  REQUEST_ID("X-Request-Id"),
  X_IDEMPOTENCY_KEY("X-Idempotency-Key");

  private final String text;
  /** The name as a Netty string that caches its hash. */
  final AsciiString name;

  KnownHeader(String text) {
    this.text = text;
    this.name = AsciiString.cached(text);
  }

  /** The name as the activator writes it. */
  public String text() {
    return text;
  }
}
