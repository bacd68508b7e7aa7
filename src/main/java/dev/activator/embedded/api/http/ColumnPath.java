package dev.activator.embedded.api.http;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * A path to a value in an object, in the form of printer columns, such as
 * {@code .status.conditions[?(@.type=="Ready")].status}.
 *
 * <p><b>Source.</b> {@code util/jsonpath/parser.go} in Kubernetes' client-go; only the parts that
 * columns use.
 *
 * @param steps empty if the path cannot be parsed
 */
record ColumnPath(List<Step> steps) {
  // The quantifiers are possessive, because others use a stack frame for each character.
  private static final String WORD = "((?:[^.\\[\\]\\\\]|\\\\.)++)";
  private static final String KEY = "((?:[^.\\[\\]\\\\\\s=]|\\\\.)++)";
  private static final Pattern STEP = Pattern.compile("\\." + WORD + "|\\['([^']*)'\\]"
      + "|\\[(\\d{1,6})\\]|(\\[\\*\\])"
      + "|\\[\\?\\(\\s*@\\." + KEY + "\\s*==\\s*(?:\"([^\"]*)\"|'([^']*)')\\s*\\)\\]");

  interface Step {
    Stream<JsonNode> from(JsonNode node);
  }

  static ColumnPath parse(String text) {
    String path = text.startsWith(".") || text.startsWith("[") ? text : "." + text;
    var matcher = STEP.matcher(path);
    var steps = new ArrayList<Step>();
    int end = 0;
    while (matcher.find() && matcher.start() == end) {
      steps.add(step(matcher.toMatchResult()));
      end = matcher.end();
    }
    return new ColumnPath(end == path.length() ? List.copyOf(steps) : List.of());
  }

  private static Step step(java.util.regex.MatchResult match) {
    if (match.group(1) != null) {
      return field(match.group(1).replaceAll("\\\\(.)", "$1"));
    }
    if (match.group(2) != null) {
      return field(match.group(2));
    }
    if (match.group(3) != null) {
      int index = Integer.parseInt(match.group(3));
      return node -> Stream.of(node.path(index));
    }
    if (match.group(4) != null) {
      return JsonNode::valueStream;
    }
    String key = match.group(5);
    String wanted = match.group(6) == null ? match.group(7) : match.group(6);
    return node -> node.valueStream().filter(one -> one.path(key).asString("").equals(wanted));
  }

  private static Step field(String name) {
    return node -> Stream.of(node.path(name));
  }

  String textIn(JsonNode object) {
    if (steps.isEmpty()) {
      return "";
    }
    var nodes = Stream.of(object);
    for (var step : steps) {
      nodes = nodes.flatMap(step::from);
    }
    return nodes.filter(node -> !node.isMissingNode() && !node.isNull())
        .map(node -> node.isValueNode() ? node.asString("") : node.toString())
        .collect(Collectors.joining(" "));
  }
}
