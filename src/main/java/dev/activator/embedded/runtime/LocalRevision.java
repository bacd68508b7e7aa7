package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.runtime.policy.Expansion;
import dev.activator.revision.Protocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * What local processes need of a revision. Absent fields have defaults.
 *
 * @param owner its Service; may be empty
 * @param requestTimeout also limits how long a stopped pod may drain
 */
record LocalRevision(RevisionId id, String owner, Container container, Duration requestTimeout,
    Protocol protocol, LocalProbe probe) {
  /**
   * @param image used only without a command
   * @param env added to the activator's own
   * @param workingDir empty for the activator's own
   */
  record Container(String image, List<String> command, List<String> args,
      Map<String, String> env, String workingDir) {
    private static Container of(JsonNode container) {
      var env = new TreeMap<String, String>();
      for (var variable : container.path("env")) {
        env.put(variable.path("name").stringValue(""), variable.path("value").asString(""));
      }
      env.remove("");
      return new Container(container.path("image").stringValue(""),
          words(container, "command"), words(container, "args"), env,
          container.path("workingDir").stringValue(""));
    }

    private static List<String> words(JsonNode container, String field) {
      return container.path(field).valueStream().map(word -> word.asString("")).toList();
    }
  }

  static LocalRevision of(JsonNode object) {
    var spec = object.path("spec");
    var container = spec.path("containers").path(0);
    boolean h2c = container.path("ports").path(0).path("name").stringValue("").equals("h2c");
    var probe = LocalProbe.of(container.path("readinessProbe"));
    return new LocalRevision(new RevisionId(Meta.namespace(object), Meta.name(object)),
        Meta.labels(object).getOrDefault(KnativeLabels.SERVICE, ""), Container.of(container),
        requestTimeout(spec), h2c ? Protocol.H2C : Protocol.HTTP1,
        h2c ? probe.connecting() : probe);
  }

  private static Duration requestTimeout(JsonNode spec) {
    int seconds = spec.path("timeoutSeconds").intValue(0);
    return seconds > 0 ? Duration.ofSeconds(seconds) : RequestTimeouts.DEFAULT.overall();
  }

  Map<String, String> environment(int port) {
    var variables = new TreeMap<>(container.env());
    variables.put("PORT", Integer.toString(port));
    variables.put("K_REVISION", id.name());
    variables.put("K_CONFIGURATION", owner);
    variables.put("K_SERVICE", owner);
    return variables;
  }

  List<String> commandLine(Map<String, String> variables) {
    var words = Stream.concat(container.command().stream(), container.args().stream()).toList();
    return Expansion.of(words, variables);
  }
}
