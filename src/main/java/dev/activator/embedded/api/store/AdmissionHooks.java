package dev.activator.embedded.api.store;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import tools.jackson.databind.node.ObjectNode;

/** Those who want a word before an object is written. Any thread may call. */
final class AdmissionHooks {
  private final Map<Kind, List<UnaryOperator<ObjectNode>>> byKind = new ConcurrentHashMap<>();

  void add(Kind kind, UnaryOperator<ObjectNode> hook) {
    byKind.computeIfAbsent(kind, _ -> new CopyOnWriteArrayList<>()).add(hook);
  }

  /** The object after all of them, in the order in which they came. */
  ObjectNode admit(Kind kind, ObjectNode object) {
    var admitted = object;
    for (var hook : byKind.getOrDefault(kind, List.of())) {
      admitted = hook.apply(admitted);
    }
    return admitted;
  }
}
