package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.Json;
import java.util.ArrayDeque;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLParser;

/** Reads the text of documents, and refuses what cannot be stored as it was meant. */
public final class Documents {
  private static final YAMLMapper YAML = YAMLMapper.builder()
      .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private static final int LONGEST_PROBLEM = 300;
  private static final Pattern ABOUT_THE_READER = Pattern
      .compile("\\s*+(?:\\((?:start marker|bound as|from) .*|: not allowed as per .*)");

  private Documents() {}

  /** Reads JSON of finite numbers, or fails with what {@link #problem} can put in words. */
  public static JsonNode json(byte[] bytes) {
    return finite(Json.MAPPER.readTree(bytes));
  }

  /** The same for YAML. */
  public static JsonNode yaml(byte[] bytes) {
    refuseAliases(bytes);
    return finite(YAML.readTree(bytes));
  }

  /** What is wrong, and where: without what the reader says of itself. */
  public static String problem(JacksonException unreadable) {
    String whole = unreadable.getOriginalMessage().lines().findFirst().orElse("");
    // It quotes the document: names of tens of thousands of characters included.
    String start = whole.substring(0, Math.min(whole.length(), LONGEST_PROBLEM));
    String what = ABOUT_THE_READER.matcher(start).replaceAll("");
    var place = unreadable.getLocation();
    return "the body cannot be read: " + what + (place == null || place.getLineNr() < 1
        ? ""
        : ", at line " + place.getLineNr() + ", column " + place.getColumnNr());
  }

  /** The reader takes one for a text; and a few of them can stand for gigabytes. */
  private static void refuseAliases(byte[] bytes) {
    try (var parser = (YAMLParser) YAML.createParser(bytes)) {
      while (parser.nextToken() != null) {
        if (parser.isCurrentAlias()) {
          throw ApiException.badRequest("the body cannot be read: YAML aliases are not supported,"
              + " found one at line " + parser.currentTokenLocation().getLineNr());
        }
      }
    }
  }

  /** A number that is too large to be one becomes infinite, which nobody could write again. */
  private static JsonNode finite(JsonNode tree) {
    var left = new ArrayDeque<JsonNode>();
    left.push(tree);
    while (!left.isEmpty()) {
      var node = left.pop();
      if (node.isDouble() && !Double.isFinite(node.doubleValue())) {
        throw ApiException.badRequest("the body cannot be read: it has a number out of range");
      }
      node.valueStream().forEach(left::push);
    }
    return tree;
  }
}
