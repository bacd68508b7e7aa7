package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;

/** Header fields as a policy's test writes them: {@code name, value, name, value}. */
public final class MapFields {
  private MapFields() {}

  public static HeaderFieldList of(String... namesAndValues) {
    var fields = DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.add(namesAndValues[i], namesAndValues[i + 1]);
    }
    return HeaderFieldList.of(fields);
  }
}
