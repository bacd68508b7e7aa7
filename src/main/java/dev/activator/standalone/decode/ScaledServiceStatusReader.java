package dev.activator.standalone.decode;

import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.StatusCondition;
import dev.activator.revision.IdleState;
import dev.activator.standalone.policy.ScaledServiceStatus;
import dev.activator.standalone.policy.ScaledServiceStatus.Condition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Reads the status of a ScaledService. */
final class ScaledServiceStatusReader {
  private int replicas = -1;
  private int desiredReplicas = -1;
  private long observedGeneration;
  private String state = "";
  private String target = "";
  private @Nullable IdleState idle;
  private final Map<String, Integer> openPorts = new HashMap<>(1);
  private final List<Condition> conditions = new ArrayList<>(2);

  private ScaledServiceStatusReader() {}

  /** @param idle which another writer sets */
  record Read(ScaledServiceStatus status, @Nullable IdleState idle) {}

  static Read read(JsonCursor in) {
    var reader = new ScaledServiceStatusReader();
    reader.status(in);
    return new Read(new ScaledServiceStatus(known(reader.replicas), known(reader.desiredReplicas),
        reader.observedGeneration, reader.conditions, reader.openPorts, reader.state,
        reader.target), reader.idle);
  }

  private void status(JsonCursor in) {
    for (var field : in.fields()) {
      switch (field) {
        case "replicas" -> replicas = in.count(-1);
        case "desiredReplicas" -> desiredReplicas = in.count(-1);
        case "state" -> state = in.text();
        case "target" -> target = in.text();
        case "ports" -> {
          for (var _ : in.items()) {
            openPort(in);
          }
        }
        case "idle" -> idle = idle(in.texts());
        case "observedGeneration" -> observedGeneration = in.longCount(0);
        case "conditions" -> {
          for (var _ : in.items()) {
            var one = StatusCondition.read(in);
            conditions.add(new Condition(one.type(), one.status(), one.reason(), one.message(),
                one.lastTransitionTime(), one.observedGeneration()));
          }
        }
      }
    }
  }

  private static @Nullable IdleState idle(Map<String, String> parts) {
    return IdleState.parse(parts.getOrDefault("state", ""), parts.getOrDefault("since", ""),
        parts.getOrDefault("do", ""));
  }

  private void openPort(JsonCursor in) {
    var name = "";
    int number = 0;
    for (var field : in.fields()) {
      switch (field) {
        case "port" -> name = in.text();
        case "number" -> number = in.count(0);
      }
    }
    openPorts.put(name, number);
  }

  private static OptionalInt known(int number) {
    return number < 0 ? OptionalInt.empty() : OptionalInt.of(number);
  }
}
