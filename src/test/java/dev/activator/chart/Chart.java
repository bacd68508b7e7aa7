package dev.activator.chart;

import com.marcnuri.helm.Helm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The chart as it is installed with some values: the objects Kubernetes is given. */
record Chart(List<JsonNode> objects) {
  static final Path SOURCE = Path.of("helm", "activator");
  private static final ConcurrentMap<Render, String> MANIFESTS = new ConcurrentHashMap<>();
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final String OLDEST_KUBERNETES = "1.34.0";

  /** In the place of Knative's, with these values. */
  static Chart replacing(String... values) {
    return installed("activator", "knative-serving", values);
  }

  /** Beside Knative's, in a namespace of its own. */
  static Chart beside(String... values) {
    var all = new ArrayList<>(List.of("mode: beside"));
    all.addAll(List.of(values));
    return installed("trial", "trials", all.toArray(String[]::new));
  }

  /**
   * As a release of this name in this namespace.
   *
   * @param values lines of YAML
   * @throws IllegalStateException with Helm's words, if it refuses
   */
  static Chart installed(String release, String namespace, String... values) {
    return rendered(SOURCE, release, namespace, values);
  }

  private static Chart rendered(Path source, String release, String namespace, String... values) {
    return parse(MANIFESTS.computeIfAbsent(
        new Render(source, release, namespace, List.of(values)), Chart::render));
  }

  /** Helm is a process: each rendering runs once. */
  private record Render(Path source, String release, String namespace, List<String> values) {}

  private static String render(Render render) {
    try {
      var file = Files.createTempFile("values", ".yaml");
      try {
        Files.write(file, render.values);
        return new Helm(render.source).template().withName(render.release)
            .withNamespace(render.namespace).withKubeVersion(OLDEST_KUBERNETES)
            .withValuesFile(file).call();
      } finally {
        Files.delete(file);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Chart parse(String manifests) {
    try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(manifests)) {
      return new Chart(documents.readAll().stream().filter(JsonNode::isObject).toList());
    }
  }

  /**
   * With its tests among the objects, which Helm otherwise keeps apart.
   *
   * @param copy an empty directory
   */
  static Chart withTests(Path copy, String release, String namespace, String... values)
      throws IOException {
    try (var files = Files.walk(SOURCE)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        var target = copy.resolve(SOURCE.relativize(file));
        Files.createDirectories(target.getParent());
        Files.writeString(target, Files.readString(file).replace("helm.sh/hook: ", "hook: "));
      }
    }
    return rendered(copy, release, namespace, values);
  }

  /** The one object of this kind. */
  JsonNode only(String kind) {
    var found = all(kind);
    if (found.size() != 1) {
      throw new AssertionError(found.size() + " objects of kind " + kind + " in " + names());
    }
    return found.getFirst();
  }

  List<JsonNode> all(String kind) {
    return objects.stream().filter(object -> object.path("kind").asString().equals(kind)).toList();
  }

  /** Kind, namespace and name of all, as in {@code Service knative-serving/activator-service}. */
  List<String> names() {
    return objects.stream().map(Chart::name).toList();
  }

  static String name(JsonNode object) {
    var metadata = object.path("metadata");
    String namespace = metadata.path("namespace").asString("");
    return object.path("kind").asString() + " " + (namespace.isEmpty() ? "" : namespace + "/")
        + metadata.path("name").asString();
  }

  /** What the container of the Deployment's pods is. */
  JsonNode container() {
    return pods().path("containers").path(0);
  }

  JsonNode pods() {
    return only("Deployment").path("spec").path("template").path("spec");
  }
}
