package dev.activator.config;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** A Kubernetes label selector as YAML. */
final class LabelSelectorText {
  private static final YAMLMapper YAML = YAMLMapper.builder().build();

  private LabelSelectorText() {}

  /** An error message; null if valid or empty. */
  static @Nullable String problem(String text) {
    try {
      return problemOf(YAML.readTree(text));
    } catch (JacksonException e) {
      return "it is not YAML: " + e.getOriginalMessage().lines().findFirst().orElse("");
    }
  }

  private static @Nullable String problemOf(JsonNode selector) {
    if (isAbsent(selector)) {
      return null;
    }
    if (!selector.isObject()) {
      return "a label selector must be a map";
    }
    var labels = selector.path("matchLabels");
    if (!isAbsent(labels) && !(labels.isObject() && areTexts(labels))) {
      return "matchLabels must be a map of texts";
    }
    var expressions = selector.path("matchExpressions");
    return isAbsent(expressions) || expressions.isArray()
        && expressions.valueStream().allMatch(LabelSelectorText::isExpression)
            ? null
            : "matchExpressions must be a list of key, operator and values";
  }

  private static boolean isExpression(JsonNode one) {
    var values = one.path("values");
    return one.isObject() && isText(one.path("key")) && isText(one.path("operator"))
        && (isAbsent(values) || values.isArray() && areTexts(values));
  }

  private static boolean areTexts(JsonNode values) {
    return values.valueStream().allMatch(LabelSelectorText::isText);
  }

  private static boolean isText(JsonNode value) {
    return isAbsent(value) || value.isString();
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }
}
