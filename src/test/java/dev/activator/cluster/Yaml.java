package dev.activator.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.activator.cluster.decode.Field;
import java.io.IOException;
import java.io.UncheckedIOException;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Objects as people write them. */
public final class Yaml {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Yaml() {}

  public static Field object(String yaml) {
    try {
      return Field.root(JSON.readTree(json(yaml)));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** The same as JSON, in one line. */
  public static String json(String yaml) {
    return new YAMLMapper().readTree(yaml).toString();
  }
}
