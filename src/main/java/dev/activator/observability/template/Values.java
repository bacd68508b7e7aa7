package dev.activator.observability.template;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a template may ask for. */
public interface Values {
  /** What stands under a name such as {@code Request.Method}; null if nothing does. */
  @Nullable String field(String path);

  /** The values of a request's header, in order. */
  List<String> header(String name);
}
