package dev.activator.standalone.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.standalone.policy.KubernetesService;
import dev.activator.standalone.policy.KubernetesService.Port;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads the selector and ports of a Kubernetes Service that a ScaledService names. */
final class KubernetesServiceReader implements WatchedObjectReader<KubernetesService> {
  private Map<String, String> selector = Map.of();
  private final List<Port> ports = new ArrayList<>(1);
  private boolean isLocal;

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("spec")) {
      for (var field : in.fields()) {
        switch (field) {
          case "selector" -> selector = in.texts();
          case "internalTrafficPolicy" -> isLocal = in.text().equals("Local");
          case "ports" -> {
            for (var _ : in.items()) {
              ports.add(port(in));
            }
          }
        }
      }
    }
  }

  private static Port port(JsonCursor in) {
    var name = "";
    int number = 0;
    var target = "";
    var appProtocol = "";
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> name = in.text();
        case "port" -> number = in.count(0);
        case "targetPort" -> target = in.anyText();
        case "appProtocol" -> appProtocol = in.text();
      }
    }
    return new Port(name, number, target.isEmpty() ? Integer.toString(number) : target,
        appProtocol);
  }

  @Override
  public KubernetesService decoded(DecodedMetadata metadata, JsonCursor in) {
    return new KubernetesService(metadata.namespace(), metadata.name(), selector, ports,
        isLocal);
  }
}
