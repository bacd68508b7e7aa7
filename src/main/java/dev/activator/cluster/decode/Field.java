package dev.activator.cluster.decode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A value somewhere in an object, absent or not, which knows its path.
 *
 * <p>
 * <b>Errors.</b> {@link MalformedException}, which names the path, where the value is not of the
 * type asked for.
 */
public record Field(JsonNode value, String path) {
  /** The object itself. */
  public static Field root(JsonNode object) {
    return new Field(object, "");
  }

  Field at(String name) {
    if (!isAbsent() && !value.isObject()) {
      throw malformed("an object");
    }
    var child = value.get(name);
    return new Field(child == null ? MissingNode.getInstance() : child,
        path.isEmpty() ? name : path + "." + name);
  }

  /** A null is as good as nothing. */
  boolean isAbsent() {
    return value.isMissingNode() || value.isNull();
  }

  boolean isPresent() {
    return !isAbsent();
  }

  /** The items of a list; none if it is absent. */
  List<Field> items() {
    if (isPresent() && !value.isArray()) {
      throw malformed("a list");
    }
    var items = new ArrayList<Field>();
    for (int i = 0; i < value.size(); i++) {
      items.add(new Field(value.get(i), path + "[" + i + "]"));
    }
    return items;
  }

  /** The text, which must be there. */
  String text() {
    var text = textOr(null);
    if (text == null) {
      throw new MalformedException(path + " is missing");
    }
    return text;
  }

  String textOrEmpty() {
    var text = textOr(null);
    return text == null ? "" : text;
  }

  private @Nullable String textOr(@Nullable String absent) {
    if (isAbsent()) {
      return absent;
    }
    if (!value.isTextual()) {
      throw malformed("text");
    }
    return value.textValue();
  }

  /** A whole number of at least 0; the default if it is absent. */
  int countOr(int absent) {
    if (isAbsent()) {
      return absent;
    }
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
      throw malformed("a whole number, 0 or more");
    }
    return value.intValue();
  }

  /** Yes or no; null if it is absent. */
  @Nullable Boolean truth() {
    if (isAbsent()) {
      return null;
    }
    if (!value.isBoolean()) {
      throw malformed("true or false");
    }
    return value.booleanValue();
  }

  /** The entries of a map from text to text; none if it is absent. */
  Map<String, String> texts() {
    if (isPresent() && !value.isObject()) {
      throw malformed("a map");
    }
    var texts = new LinkedHashMap<String, String>();
    value.fieldNames().forEachRemaining(name -> texts.put(name, at(name).textOrEmpty()));
    return texts;
  }

  MalformedException malformed(String expected) {
    return new MalformedException(path + " must be " + expected + ", not " + shortened());
  }

  private String shortened() {
    var text = value.toString();
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }
}
