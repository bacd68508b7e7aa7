package dev.activator.kube.reflector;

import dev.activator.kube.decode.WatchedKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The query of one informer: kind, namespace, label selector and field selector. Empty texts
 * match everything. Equal queries share one informer.
 */
public record InformerQuery<F>(WatchedKind<F> kind, String namespace, String labelSelector,
    String fieldSelector) {

  public static <F> InformerQuery<F> everywhere(WatchedKind<F> kind, String labelSelector) {
    return new InformerQuery<>(kind, "", labelSelector, "");
  }

  public static <F> InformerQuery<F> in(String namespace, WatchedKind<F> kind,
      String labelSelector) {
    return new InformerQuery<>(kind, namespace, labelSelector, "");
  }

  public String plural() {
    return kind.plural();
  }

  /** The query as arguments of kubectl: {@code endpointslices.discovery.k8s.io -A}. */
  public String text() {
    var group = kind.groupPath().split("/");
    return kind.plural() + (group.length == 3 ? "." + group[1] : "")
        + (namespace.isEmpty() ? " -A" : " -n " + namespace);
  }

  String path(Map<String, String> parameters) {
    var all = new LinkedHashMap<>(parameters);
    if (!labelSelector.isEmpty()) {
      all.put("labelSelector", labelSelector);
    }
    if (!fieldSelector.isEmpty()) {
      all.put("fieldSelector", fieldSelector);
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
