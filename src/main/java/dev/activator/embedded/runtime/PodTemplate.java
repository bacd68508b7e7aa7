package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The pod template of a ReplicaSet or Deployment, with defaults for absent fields.
 *
 * @param name the name of the ReplicaSet or Deployment
 * @param workload the name of the Deployment that controls it, or else its own name
 * @param metadata the labels and annotations of its pods
 * @param spec the spec of its pods
 */
record PodTemplate(String namespace, String name, String workload, JsonNode metadata,
    JsonNode spec) {
  /** The annotation of a revision's pods with its {@code timeoutSeconds}. */
  static final String TIMEOUT = "activator.dev/timeout-seconds";
  private static final Duration KILL_AFTER = Duration.ofSeconds(3);

  static PodTemplate of(JsonNode object) {
    var template = object.path("spec").path("template");
    var controller = ControllerRefs.controller(object);
    boolean owned = controller.path("kind").asString("").equals(BuiltInKinds.DEPLOYMENT.kind());
    return new PodTemplate(ObjectMeta.namespace(object), ObjectMeta.name(object),
        owned ? controller.path("name").asString("") : ObjectMeta.name(object),
        template.path("metadata"), template.path("spec"));
  }

  boolean isRevision() {
    return !label(KnownLabels.REVISION).isEmpty();
  }

  /**
   * The revision that the pods belong to, or else the workload. Requests are counted for this id.
   */
  RevisionId id() {
    return new RevisionId(namespace, isRevision() ? label(KnownLabels.REVISION) : workload);
  }

  private String label(String name) {
    return metadata.path("labels").path(name).asString("");
  }

  JsonNode container() {
    return spec.path("containers").path(0);
  }

  boolean isSample() {
    return container().path("command").isEmpty()
        && container().path("image").asString("").equals(ServingController.SAMPLE_IMAGE);
  }

  boolean canRun() {
    return hasCommand() || isSample();
  }

  boolean hasCommand() {
    return !container().path("command").isEmpty();
  }

  String workingDir() {
    return container().path("workingDir").asString("");
  }

  /** The command and its arguments, before variables are replaced. */
  List<String> words() {
    return Stream.of("command", "args").flatMap(field -> container().path(field).valueStream())
        .map(word -> word.asString("")).toList();
  }

  PortProtocol protocol() {
    boolean h2c = container().path("ports").path(0).path("name").asString("").equals("h2c");
    return h2c ? PortProtocol.H2C : PortProtocol.HTTP1;
  }

  /** The time that a stopping pod has to finish its requests. */
  Duration requestTimeout() {
    int seconds = metadata.path("annotations").path(TIMEOUT).asInt(0);
    return seconds > 0 ? Duration.ofSeconds(seconds) : RequestTimeouts.DEFAULT.overall();
  }

  /** The time from SIGTERM to SIGKILL. */
  Duration killAfter() {
    int seconds = spec.path("terminationGracePeriodSeconds").intValue(0);
    return seconds > 0 ? Duration.ofSeconds(seconds) : KILL_AFTER;
  }

  /** The variables that embedded mode adds to those of a container. */
  Map<String, String> ownVariables(int port) {
    var own = new TreeMap<>(Map.of("PORT", Integer.toString(port)));
    if (isRevision()) {
      String service = label(KnownLabels.SERVICE);
      own.putAll(
          Map.of("K_REVISION", id().name(), "K_CONFIGURATION", service, "K_SERVICE", service));
    }
    return own;
  }

  /**
   * The port on this machine for a port of the manifest. The container's first port is the pod's
   * port, which is in {@code PORT}. Its other ports are used as they are. A port that the container
   * does not list means the first port, unless it lists several.
   *
   * @param port a number or a name, or a missing node
   */
  int port(JsonNode port, int podPort) {
    var ports = container().path("ports");
    for (int i = 0; i < ports.size(); i++) {
      var listed = ports.path(i);
      if (port.isString()
          ? port.equals(listed.path("name"))
          : port.equals(listed.path("containerPort"))) {
        return i == 0 ? podPort : listed.path("containerPort").intValue(podPort);
      }
    }
    return podPort;
  }

  /** A probe of the container; null if there is none. */
  @Nullable LocalProbe probe(String field, int podPort) {
    return container().path(field) instanceof ObjectNode probe
        ? LocalProbe.of(probe, port -> port(port, podPort))
        : null;
  }

  /**
   * The readiness probe. Without one, a process is ready when it accepts connections, also with
   * HTTP/2.
   */
  LocalProbe readiness(int podPort) {
    var probe = probe("readinessProbe", podPort);
    if (probe == null) {
      return LocalProbe.connecting(podPort);
    }
    return protocol() == PortProtocol.H2C && probe.action() instanceof LocalProbe.HttpGet get
        ? probe.with(new LocalProbe.Connect(get.port()))
        : probe;
  }
}
