package dev.activator.kube.decode;

import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.json.JsonFactory;

/**
 * A cursor over one JSON object. It skips values that are not read, and builds no tree.
 *
 * <p><b>Errors.</b> A value of the wrong type counts as absent, and is recorded as the
 * {@link #problem()}. Invalid JSON throws a {@link tools.jackson.core.JacksonException}.
 */
public final class JsonCursor {
  /** Used only to quote values in messages. */
  private static final JsonFactory JSON = JsonFactory.builder().streamWriteConstraints(
      StreamWriteConstraints.builder().maxNestingDepth(Integer.MAX_VALUE).build()).build();
  private static final int MAX_QUOTE_LENGTH = 60;
  private static final Interner<String> TEXTS = new Interner<>(1 << 12);

  private final JsonParser parser;
  /** The context of the object itself. Paths in messages begin below it. */
  private final TokenStreamContext root;
  private final List<String> remarks;
  private @Nullable String problem;
  /** Whether the value at the current token has been entered, so that it need not be skipped. */
  private boolean entered = true;

  /** @param parser is at the start of the object */
  JsonCursor(JsonParser parser, List<String> remarks) {
    this.parser = parser;
    this.root = parser.streamReadContext();
    this.remarks = remarks;
  }

  /** The field names of the current object. The caller must iterate to the end. */
  public Iterable<String> fields() {
    entered = isPresent() && is(JsonToken.START_OBJECT, "an object");
    return entered ? rest(this::nextField) : List.of();
  }

  /** This cursor, at each item of the current list. The caller must iterate to the end. */
  public Iterable<JsonCursor> items() {
    entered = isPresent() && is(JsonToken.START_ARRAY, "a list");
    return entered ? rest(this::nextItem) : List.of();
  }

  Iterable<String> rootFields() {
    return rest(this::nextField);
  }

  private static <T> Iterable<T> rest(Supplier<@Nullable T> next) {
    return () -> new Iterator<>() {
      private @Nullable T found;

      @Override
      public boolean hasNext() {
        found = next.get();
        return found != null;
      }

      @Override
      public T next() {
        return Objects.requireNonNull(found);
      }
    };
  }

  private @Nullable String nextField() {
    leaveValue();
    if (parser.nextToken() == JsonToken.END_OBJECT) {
      return null;
    }
    var name = parser.currentName();
    parser.nextToken();
    return name;
  }

  private @Nullable JsonCursor nextItem() {
    leaveValue();
    return parser.nextToken() == JsonToken.END_ARRAY ? null : this;
  }

  private void leaveValue() {
    if (!entered) {
      parser.skipChildren();
    }
    entered = false;
  }

  /** Whether there is a value. A JSON null counts as absent. */
  public boolean isPresent() {
    return parser.currentToken() != JsonToken.VALUE_NULL;
  }

  private boolean is(JsonToken token, String expected) {
    if (parser.currentToken() != token) {
      problem(wrong(expected));
      return false;
    }
    return true;
  }

  public boolean isText() {
    return parser.currentToken() == JsonToken.VALUE_STRING;
  }

  /** The current text; empty if absent. */
  public String text() {
    return isPresent() && is(JsonToken.VALUE_STRING, "text") ? TEXTS.of(parser.getString()) : "";
  }

  /** The current text, number or boolean as text; empty for any other value. */
  public String anyText() {
    return TEXTS.of(parser.getValueAsString(""));
  }

  /** The current number, which must be at least 0. */
  public int count(int absent) {
    if (!isPresent()) {
      return absent;
    }
    if (isCount()) {
      return parser.getIntValue();
    }
    problem(wrong("a whole number, 0 or more"));
    return absent;
  }

  /** The current number, which must be at least 0 and may have 64 bits. */
  public long longCount(long absent) {
    if (!isPresent()) {
      return absent;
    }
    if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER
        && parser.getLongValue() >= 0) {
      return parser.getLongValue();
    }
    problem(wrong("a whole number, 0 or more"));
    return absent;
  }

  public boolean isCount() {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() == JsonParser.NumberType.INT && parser.getIntValue() >= 0;
  }

  public @Nullable Boolean truth() {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> {
        problem(wrong("true or false"));
        yield null;
      }
    };
  }

  /** The fields of the current object that are texts; empty if absent. */
  public Map<String, String> texts() {
    if (!isPresent()) {
      return Map.of();
    }
    var texts = new LinkedHashMap<String, String>();
    entered = is(JsonToken.START_OBJECT, "a map");
    if (entered) {
      rest(this::nextField).forEach(name -> texts.put(name, text()));
    }
    return texts;
  }

  /** The current value as maps, lists, texts, numbers and booleans; null if absent. */
  public @Nullable Object tree() {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        var fields = new LinkedHashMap<String, @Nullable Object>();
        fields().forEach(name -> fields.put(name, tree()));
        yield fields;
      }
      case START_ARRAY -> {
        var items = new ArrayList<@Nullable Object>();
        items().forEach(_ -> items.add(tree()));
        yield items;
      }
      case VALUE_STRING -> parser.getString();
      case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      default -> null;
    };
  }

  public String wrong(String expected) {
    return path() + " must be " + expected + ", not " + quoted();
  }

  /** Records that the object is malformed. Only the first problem is kept. */
  public void problem(String message) {
    if (problem == null) {
      problem = message;
    }
  }

  @Nullable String problem() {
    return problem;
  }

  public void remark(String sentence) {
    remarks.add(sentence);
  }

  public List<String> remarks() {
    return remarks;
  }

  /** The path of the current value, such as {@code subsets[0].ports}. */
  public String path() {
    var steps = new ArrayDeque<String>();
    var token = parser.currentToken();
    var context = parser.streamReadContext();
    if (token != null && token.isStructStart()) {
      context = context.getParent();
    }
    for (var at = context; at != null && at != root.getParent(); at = at.getParent()) {
      steps.push(at.inArray() ? "[" + at.getCurrentIndex() + "]" : "." + at.currentName());
    }
    return String.join("", steps).substring(1);
  }

  private String quoted() {
    if (parser.currentToken() == JsonToken.VALUE_STRING) {
      return shortened("\"" + parser.getString() + "\"");
    }
    var text = new StringWriter();
    try (var generator = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      generator.copyCurrentStructure(parser);
    }
    return shortened(text.toString());
  }

  private static String shortened(String text) {
    return text.length() <= MAX_QUOTE_LENGTH ? text : text.substring(0, MAX_QUOTE_LENGTH) + "…";
  }
}
