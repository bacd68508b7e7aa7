package dev.activator.embedded.api.faults;

import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.MultiValueMap;

/** A request that carries what is done to its watch, and a query that may not be the client's. */
final class TappedRequest extends ServerHttpRequestDecorator {
  private final MultiValueMap<String, String> query;
  private final HttpHeaders headers;
  private final WatchTap tap;

  TappedRequest(ServerHttpRequest request, MultiValueMap<String, String> query,
      HttpHeaders headers, WatchTap tap) {
    super(request);
    this.query = query;
    this.headers = headers;
    this.tap = tap;
  }

  WatchTap tap() {
    return tap;
  }

  @Override
  public MultiValueMap<String, String> getQueryParams() {
    return query;
  }

  @Override
  public HttpHeaders getHeaders() {
    return headers;
  }
}
