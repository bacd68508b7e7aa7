package dev.activator.ext.picker;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedKind;
import dev.activator.kube.decode.WatchedObjectReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * An InferencePool of Gateway API's inference extension: pods, by their labels, to which gateways send
 * requests as an endpoint picker says.
 *
 * <p><b>Source.</b> {@code api/v1/inferencepool_types.go} of the extension, 1.0.
 *
 * @param generation of its spec
 * @param ports the ports of each pod
 * @param isH2c whether pods speak HTTP/2 without TLS
 * @param picker the Service that is its endpoint picker; empty if it has another kind of picker, or none
 */
record InferencePool(String name, String uid, long generation, Map<String, String> selector,
    List<Integer> ports, boolean isH2c, String picker) {
  static final String API_VERSION = "inference.networking.k8s.io/v1";
  static final WatchedKind<InferencePool> KIND = new WatchedKind<>("InferencePool",
      "apis/" + API_VERSION, "inferencepools", Reader::new);

  InferencePool {
    selector = Map.copyOf(selector);
    ports = List.copyOf(ports);
  }

  private static final class Reader implements WatchedObjectReader<InferencePool> {
    private Map<String, String> selector = Map.of();
    private final List<Integer> ports = new ArrayList<>(1);
    private boolean isH2c;
    private String picker = "";

    @Override
    public void field(String name, JsonCursor in) {
      if (name.equals("spec")) {
        for (var field : in.fields()) {
          switch (field) {
            case "selector" -> {
              for (var part : in.fields()) {
                if (part.equals("matchLabels")) {
                  selector = in.texts();
                }
              }
            }
            case "targetPorts" -> {
              for (var _ : in.items()) {
                ports.add(number(in));
              }
            }
            case "appProtocol" -> isH2c = in.text().equals("kubernetes.io/h2c");
            case "endpointPickerRef" -> picker = service(in);
          }
        }
      }
    }

    private static int number(JsonCursor in) {
      int number = 0;
      for (var field : in.fields()) {
        if (field.equals("number")) {
          number = in.count(0);
        }
      }
      return number;
    }

    private static String service(JsonCursor in) {
      var group = "";
      var kind = "Service";
      var name = "";
      for (var field : in.fields()) {
        switch (field) {
          case "group" -> group = in.text();
          case "kind" -> kind = in.text();
          case "name" -> name = in.text();
        }
      }
      return group.isEmpty() && kind.equals("Service") ? name : "";
    }

    @Override
    public InferencePool decoded(DecodedMetadata metadata, JsonCursor in) {
      return new InferencePool(metadata.name(), metadata.uid(), metadata.generation(), selector,
          ports, isH2c, picker);
    }
  }
}
