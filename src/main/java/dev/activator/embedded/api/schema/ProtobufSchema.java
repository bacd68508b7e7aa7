package dev.activator.embedded.api.schema;

import dev.activator.embedded.api.store.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The messages of {@code kubernetes.proto} and {@code knative.proto}, which are parsed at their
 * first use.
 */
final class ProtobufSchema {
  private static final Pattern PACKAGE = Pattern.compile("package (\\S+);");
  private static final Pattern KNOWN_GROUP = Pattern.compile("^(\\w+)\\.(k8s\\.io|knative\\.dev)$");
  private static final Pattern MESSAGE = Pattern.compile("message (\\w+) (\\[atomic] )?\\{");
  private static final Pattern FIELD = Pattern
      .compile("(?:(optional|repeated|inline) )?(?:map<string, (\\S+)>|(\\S+)) (\\w+) = (\\d+)"
          + "(?: \\[(?:(set|atomic)|keys = \"([\\w,]+)\"|default = \"(\\w+)\")])?;");
  private static final Set<String> SCALARS = Set.of("any", "bool", "bytes", "int32", "int64",
      "string");
  private static final ProtobufSchema KNOWN = read("kubernetes.proto", "knative.proto");

  private final Map<String, Message> messages = new HashMap<>();

  enum Label {
    PLAIN,
    OPTIONAL,
    REPEATED,
    MAP,
    INLINE
  }

  /**
   * @param name the name in JSON
   * @param type a scalar, or the full name of a message
   * @param merging {@code set}, {@code atomic}, or empty
   * @param keys the keys that identify the items of a list
   * @param fallback the default of a key; empty if it has none
   * @param owner the name of the message that declares it
   */
  record Field(String name, int number, Label label, String type, String merging,
      List<String> keys, String fallback, String owner) {}

  /**
   * @param atomic whether server-side apply treats the message as one value
   * @param byName the fields as in JSON, with those of inline messages
   * @param byNumber the fields as in protobuf
   */
  record Message(boolean atomic, Map<String, Field> byName, Map<Integer, Field> byNumber) {
    @Nullable Field field(String name) {
      return byName.get(name);
    }

    Set<String> names() {
      return byName.keySet();
    }
  }

  private ProtobufSchema() {}

  /**
   * The message with a name; empty for scalars, and for types with another form in JSON, such as
   * times.
   */
  static Optional<Message> message(String name) {
    return Optional.ofNullable(KNOWN.messages.get(name));
  }

  /** The message of a kind; empty for kinds that may have any fields. */
  static Optional<Message> of(Kind kind) {
    return of(kind.group(), kind.version(), kind.kind());
  }

  static Optional<Message> of(String group, String version, String kind) {
    return message(name(group, version, kind));
  }

  static String nameOf(Kind kind) {
    return name(kind.group(), kind.version(), kind.kind());
  }

  private static String name(String group, String version, String kind) {
    // The kinds of any other group, such as apps.example.com, have no message.
    String first = group.isEmpty() ? "core" : KNOWN_GROUP.matcher(group).replaceFirst("$1");
    return first + "." + version + "." + kind;
  }

  private static ProtobufSchema read(String... resources) {
    var schema = new ProtobufSchema();
    for (var resource : resources) {
      try (InputStream text = Objects
          .requireNonNull(ProtobufSchema.class.getResourceAsStream("/embedded/" + resource),
              resource)) {
        schema.add(new String(text.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    schema.messages.values().forEach(schema::flatten);
    return schema;
  }

  /** Replaces inline messages by their fields. */
  private void flatten(Message message) {
    for (var field : message.byNumber().values()) {
      if (field.label() == Label.INLINE && message.byName().remove(field.name(), field)) {
        var inline = Objects.requireNonNull(messages.get(field.type()));
        flatten(inline);
        inline.byName().forEach(message.byName()::putIfAbsent);
      }
    }
  }

  private void add(String text) {
    String inPackage = "";
    String name = "";
    var message = new Message(false, Map.of(), Map.of());
    for (var line : text.lines().map(String::strip).toList()) {
      var opened = PACKAGE.matcher(line);
      var begun = MESSAGE.matcher(line);
      var field = FIELD.matcher(line);
      if (opened.matches()) {
        inPackage = opened.group(1) + ".";
      } else if (begun.matches()) {
        message = new Message(begun.group(2) != null, new TreeMap<>(), new HashMap<>());
        name = inPackage + begun.group(1);
        messages.put(name, message);
      } else if (field.matches()) {
        boolean map = field.group(2) != null;
        String type = map ? field.group(2) : field.group(3);
        var parsed = new Field(field.group(4), Integer.parseInt(field.group(5)),
            map ? Label.MAP : label(field.group(1)),
            SCALARS.contains(type) || type.contains(".") ? type : inPackage + type,
            text(field.group(6)),
            field.group(7) == null ? List.of() : List.of(field.group(7).split(",")),
            text(field.group(8)), name);
        message.byName().put(parsed.name(), parsed);
        message.byNumber().put(parsed.number(), parsed);
      }
    }
  }

  private static String text(@Nullable String matched) {
    return matched == null ? "" : matched;
  }

  private static Label label(@Nullable String word) {
    return switch (word) {
      case "optional" -> Label.OPTIONAL;
      case "repeated" -> Label.REPEATED;
      case "inline" -> Label.INLINE;
      case null, default -> Label.PLAIN;
    };
  }
}
