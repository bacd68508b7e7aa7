package dev.activator.cluster.reflector;

import dev.activator.cluster.decode.ResourceKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Which objects are wanted. Equal ones are listed and watched once.
 *
 * @param namespace where they are; empty for everywhere
 * @param labelSelector as the API takes it; empty for all
 * @param name the only one that is wanted; empty for all
 */
public record ResourceQuery<F>(ResourceKind<F> kind, String namespace, String labelSelector,
    String name) {

  /** Those of all namespaces with these labels. */
  public static <F> ResourceQuery<F> everywhere(ResourceKind<F> kind, String labelSelector) {
    return new ResourceQuery<>(kind, "", labelSelector, "");
  }

  /** Those of one namespace with these labels. */
  public static <F> ResourceQuery<F> in(String namespace, ResourceKind<F> kind,
      String labelSelector) {
    return new ResourceQuery<>(kind, namespace, labelSelector, "");
  }

  /** The resource, for people. */
  public String plural() {
    return kind.plural();
  }

  /** The path and query of a request for them. */
  String path(Map<String, String> parameters) {
    var all = new LinkedHashMap<>(parameters);
    if (!labelSelector.isEmpty()) {
      all.put("labelSelector", labelSelector);
    }
    if (!name.isEmpty()) {
      all.put("fieldSelector", "metadata.name=" + name);
    }
    var path = kind.groupPath() + (namespace.isEmpty() ? "/" : "/namespaces/" + namespace + "/")
        + kind.plural();
    return all.isEmpty()
        ? path
        : path + all.entrySet().stream().map(one -> one.getKey() + "=" + encoded(one.getValue()))
            .collect(Collectors.joining("&", "?", ""));
  }

  private static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
