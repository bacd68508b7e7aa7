package dev.activator.standalone.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.standalone.policy.HpaSpec;
import dev.activator.revision.ScaleTargetRef;

/** Reads the target of a HorizontalPodAutoscaler, and its lower limit. */
final class HpaReader implements WatchedObjectReader<HpaSpec> {
  private ScaleTargetRef target = new ScaleTargetRef("", "", "");
  private int minReplicas = 1;

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("spec")) {
      for (var field : in.fields()) {
        switch (field) {
          case "scaleTargetRef" -> target = target(in);
          case "minReplicas" -> minReplicas = in.count(1);
        }
      }
    }
  }

  static ScaleTargetRef target(JsonCursor in) {
    var apiVersion = "";
    var kind = "";
    var name = "";
    for (var field : in.fields()) {
      switch (field) {
        case "apiVersion" -> apiVersion = in.text();
        case "kind" -> kind = in.text();
        case "name" -> name = in.text();
      }
    }
    return new ScaleTargetRef(apiVersion, kind, name);
  }

  @Override
  public HpaSpec decoded(DecodedMetadata metadata, JsonCursor in) {
    return new HpaSpec(metadata.namespace(), metadata.name(), target, minReplicas);
  }
}
