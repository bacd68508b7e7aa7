package dev.activator.testing.faults;

import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.MultiValueMap;

/** A request that knows what hits it, and whose query may not be the client's. */
final class TappedRequest extends ServerHttpRequestDecorator {
  private final MultiValueMap<String, String> query;
  private final HttpHeaders headers;
  private final OpenCall call;
  private final List<Fault> hits;

  TappedRequest(ServerHttpRequest request, MultiValueMap<String, String> query,
      HttpHeaders headers, OpenCall call, List<Fault> hits) {
    super(request);
    this.query = query;
    this.headers = headers;
    this.call = call;
    this.hits = hits;
  }

  OpenCall call() {
    return call;
  }

  List<Fault> hits() {
    return hits;
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
