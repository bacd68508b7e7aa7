package dev.activator.observability.trace;

import dev.activator.observability.request.RequestRecord;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request's headers, in which the context of a trace travels. */
enum Carrier implements TextMapGetter<RequestRecord>, TextMapSetter<RequestRecord> {
  INSTANCE;

  @Override
  public Iterable<String> keys(RequestRecord request) {
    return List.of(); // Only propagators ask that look for headers whose names they do not know.
  }

  @Override
  public @Nullable String get(@Nullable RequestRecord request, String name) {
    return request == null ? null : request.header(name);
  }

  @Override
  public Iterator<String> getAll(@Nullable RequestRecord request, String name) {
    return request == null ? List.<String>of().iterator() : request.headers(name).iterator();
  }

  @Override
  public void set(@Nullable RequestRecord request, String name, String value) {
    if (request != null) {
      request.header(name, value);
    }
  }
}
