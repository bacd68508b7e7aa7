package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.runtime.policy.LocalRevision;
import dev.activator.embedded.runtime.policy.LocalRevision.Container;
import dev.activator.embedded.runtime.policy.UserProbe;
import dev.activator.embedded.runtime.policy.UserProbe.Attempts;
import dev.activator.embedded.runtime.serving.Labels;
import dev.activator.revision.Protocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/** Takes from a Revision object what is needed to run it here. Absent fields have defaults. */
final class RevisionReader {
  private RevisionReader() {}

  static RevisionId id(JsonNode object) {
    return new RevisionId(Meta.namespace(object), Meta.name(object));
  }

  static LocalRevision read(JsonNode object) {
    var spec = object.path("spec");
    var container = spec.path("containers").path(0);
    boolean h2c = container.path("ports").path(0).path("name").stringValue("").equals("h2c");
    return new LocalRevision(id(object), Meta.labels(object).getOrDefault(Labels.SERVICE, ""),
        container(container), containerConcurrency(object), requestTimeout(spec),
        h2c ? Protocol.H2C : Protocol.HTTP1,
        probe(container.path("readinessProbe")));
  }

  private static Duration requestTimeout(JsonNode spec) {
    int seconds = spec.path("timeoutSeconds").intValue(0);
    return seconds > 0 ? Duration.ofSeconds(seconds) : RequestTimeouts.DEFAULT.overall();
  }

  static int containerConcurrency(JsonNode revision) {
    return Math.max(0, revision.path("spec").path("containerConcurrency").intValue(0));
  }

  static Map<String, String> annotations(JsonNode object) {
    var annotations = new TreeMap<String, String>();
    for (var one : object.path("metadata").path("annotations").properties()) {
      annotations.put(one.getKey(), one.getValue().asString(""));
    }
    return annotations;
  }

  private static Container container(JsonNode container) {
    var env = new TreeMap<String, String>();
    for (var variable : container.path("env")) {
      env.put(variable.path("name").stringValue(""), variable.path("value").asString(""));
    }
    env.remove("");
    return new Container(container.path("image").stringValue(""),
        strings(container.path("command")), strings(container.path("args")), env,
        container.path("workingDir").stringValue(""));
  }

  private static List<String> strings(JsonNode list) {
    return list.valueStream().map(one -> one.asString("")).toList();
  }

  private static UserProbe probe(JsonNode probe) {
    int period = probe.path("periodSeconds").intValue(0);
    int timeout = Math.max(1, probe.path("timeoutSeconds").intValue(1));
    var attempts = period == 0 ? Attempts.EAGER : Attempts.once(Duration.ofSeconds(timeout));
    String path = probe.has("httpGet") ? probe.path("httpGet").path("path").stringValue("/") : "";
    return new UserProbe(path.isEmpty() || path.startsWith("/") ? path : "/" + path, attempts,
        Math.max(1, probe.path("successThreshold").intValue(1)));
  }
}
