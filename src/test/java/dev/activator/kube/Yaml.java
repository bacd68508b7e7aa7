package dev.activator.kube;

import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.decode.WatchedKind;
import dev.activator.kube.informer.VersionedObject;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Objects as people write them. */
public final class Yaml {
  private static final JsonFactory JSON = new JsonFactory();

  private Yaml() {}

  /** What is kept of the object. */
  public static <F> VersionedObject<ObjectDecodeResult<F>> object(WatchedKind<F> kind,
      String yaml) {
    try (var parser = parser(json(yaml))) {
      parser.nextToken();
      return kind.decode(parser);
    }
  }

  /** The same without its identity. */
  public static <F> ObjectDecodeResult<F> decoded(WatchedKind<F> kind, String yaml) {
    return object(kind, yaml).object();
  }

  /** A parser before the first token. */
  public static JsonParser parser(String json) {
    return JSON.createParser(ObjectReadContext.empty(), json.getBytes(StandardCharsets.UTF_8));
  }

  /** The same as JSON, in one line. */
  public static String json(String yaml) {
    return new YAMLMapper().readTree(yaml).toString();
  }
}
