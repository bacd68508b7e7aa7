package dev.activator.proxy.codec;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;

/** Writes responses; it must be told the method answered, as a HEAD is answered without a body. */
public final class ResponseEncoder extends HttpResponseEncoder {
  private HttpMethod answered = HttpMethod.GET;

  public void answering(HttpMethod method) {
    answered = method;
  }

  @Override
  protected boolean isContentAlwaysEmpty(HttpResponse response) {
    return HttpMethod.HEAD.equals(answered) || super.isContentAlwaysEmpty(response);
  }
}
