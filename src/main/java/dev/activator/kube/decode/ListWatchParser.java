package dev.activator.kube.decode;

import dev.activator.kube.informer.VersionedObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.JacksonException;

/**
 * Parses lists and watch events of the Kubernetes API.
 *
 * <p><b>Errors.</b> {@link IllegalStateException} or {@link tools.jackson.core.JacksonException} if
 * the text is no list or event. A malformed object that has a name and a version is not an error.
 *
 * <p><b>Source.</b> {@code k8s.io/apimachinery/pkg/apis/meta/v1/types.go}.
 */
public final class ListWatchParser {
  private static final JsonFactory JSON = new JsonFactory();
  private static final Logger log = LoggerFactory.getLogger(ListWatchParser.class);

  private ListWatchParser() {}

  /** @param next the continue token; empty for the last page */
  public record Page<T>(List<VersionedObject<T>> items, String resourceVersion, String next) {}

  public sealed interface WatchEvent<T> {
    /** An object was created or changed. */
    record Put<T>(VersionedObject<T> now) implements WatchEvent<T> {}

    record Removed<T>(VersionedObject<T> last) implements WatchEvent<T> {}

    /** All events up to this version have been sent. */
    record Bookmark<T>(String resourceVersion) implements WatchEvent<T> {}

    /** @param retryAfter the pause that the server requested; zero if none */
    record Failed<T>(int code, Duration retryAfter) implements WatchEvent<T> {}
  }

  public static <F> Page<ObjectDecodeResult<F>> page(WatchedKind<F> kind, JsonParser parser) {
    var items = new ArrayList<VersionedObject<ObjectDecodeResult<F>>>();
    var version = "";
    var next = "";
    boolean hasItems = false;
    var in = cursor(parser);
    for (var field : in.rootFields()) {
      switch (field) {
        case "metadata" -> {
          for (var one : in.fields()) {
            switch (one) {
              case "resourceVersion" -> version = in.anyText();
              case "continue" -> next = in.anyText();
            }
          }
        }
        case "items" -> {
          // Go writes an empty list as null.
          hasItems = true;
          for (var _ : in.items()) {
            add(kind, item(kind, parser), items);
          }
        }
      }
    }
    if (version.isEmpty() || !hasItems) {
      // Servers never omit the items. An incomplete list must not be read as an empty one, which
      // would delete everything.
      throw new IllegalStateException("a list came without a resourceVersion or items");
    }
    return new Page<>(items, version, next);
  }

  private static <F> void add(WatchedKind<F> kind, VersionedObject<ObjectDecodeResult<F>> item,
      ArrayList<VersionedObject<ObjectDecodeResult<F>>> items) {
    if (item.key().isEmpty()) {
      log.warn("Skipped an object without a name in a list of {}", kind.plural());
    } else {
      items.add(item);
    }
  }

  /** @param text opens a new parser in each call */
  public static <F> WatchEvent<ObjectDecodeResult<F>> event(WatchedKind<F> kind,
      Supplier<JsonParser> text) {
    return event(kind, text, "");
  }

  private static <F> WatchEvent<ObjectDecodeResult<F>> event(WatchedKind<F> kind,
      Supplier<JsonParser> text,
      String knownType) {
    var type = knownType;
    try (var parser = text.get()) {
      var in = cursor(parser);
      for (var field : in.rootFields()) {
        if (field.equals("type")) {
          type = in.text();
        } else if (field.equals("object") && !type.isEmpty()) {
          return event(kind, type, parser);
        }
      }
    }
    if (type.isEmpty() || !knownType.isEmpty()) {
      throw new IllegalStateException("an event came without a type or an object");
    }
    // The object comes before its type, so the text is parsed again.
    return event(kind, text, type);
  }

  private static <F> WatchEvent<ObjectDecodeResult<F>> event(WatchedKind<F> kind, String type,
      JsonParser parser) {
    return switch (type) {
      case "ADDED", "MODIFIED" -> new WatchEvent.Put<>(named(item(kind, parser)));
      case "DELETED" -> new WatchEvent.Removed<>(named(item(kind, parser)));
      case "BOOKMARK" -> new WatchEvent.Bookmark<>(version(parser));
      case "ERROR" -> failed(parser);
      default -> throw new IllegalStateException("an event has the unknown type '" + type + "'");
    };
  }

  private static <F> VersionedObject<ObjectDecodeResult<F>> named(
      VersionedObject<ObjectDecodeResult<F>> object) {
    if (object.key().isEmpty() || object.resourceVersion().isEmpty()) {
      // Without a version, the watch could not be resumed without a gap.
      throw new IllegalStateException(
          "an object came without a name or a resourceVersion: '" + object.key() + "'");
    }
    return object;
  }

  private static String version(JsonParser parser) {
    var metadata = new DecodedMetadata();
    var in = started(parser);
    for (var field : in.rootFields()) {
      if (field.equals("metadata")) {
        metadata.read(in);
      }
    }
    if (metadata.resourceVersion().isEmpty()) {
      throw new IllegalStateException("a bookmark came without a resourceVersion");
    }
    return metadata.resourceVersion();
  }

  private static <T> WatchEvent<T> failed(JsonParser parser) {
    int code = 0;
    int retryAfterSeconds = 0;
    var in = started(parser);
    for (var field : in.rootFields()) {
      switch (field) {
        case "code" -> code = in.count(0);
        case "details" -> {
          for (var detail : in.fields()) {
            retryAfterSeconds = detail.equals("retryAfterSeconds")
                ? in.count(0)
                : retryAfterSeconds;
          }
        }
      }
    }
    return new WatchEvent.Failed<>(code, Duration.ofSeconds(retryAfterSeconds));
  }

  public static String gitVersion(JsonParser parser) {
    var version = "";
    var in = cursor(parser);
    for (var field : in.rootFields()) {
      version = field.equals("gitVersion") ? in.anyText() : version;
    }
    return version;
  }

  /** The message of a {@code Status}; empty if the body is no Status. */
  public static String message(byte[] body) {
    var message = "";
    try (var parser = JSON.createParser(ObjectReadContext.empty(), body)) {
      for (var field : cursor(parser).rootFields()) {
        message = field.equals("message") ? parser.getValueAsString("") : message;
      }
    } catch (JacksonException | IllegalStateException e) {
      return "";
    }
    return message;
  }

  /**
   * A resource that one version of an API group serves.
   *
   * @param plural the plural name; it ends in {@code /scale} for that subresource
   */
  public record ServedResource(String plural, String kind, boolean isNamespaced) {}

  public static List<ServedResource> resources(JsonParser parser) {
    var served = new ArrayList<ServedResource>();
    var in = cursor(parser);
    for (var field : in.rootFields()) {
      if (field.equals("resources")) {
        for (var _ : in.items()) {
          served.add(resource(in));
        }
      }
    }
    return served;
  }

  private static ServedResource resource(JsonCursor in) {
    var plural = "";
    var kind = "";
    boolean isNamespaced = false;
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> plural = in.text();
        case "kind" -> kind = in.text();
        case "namespaced" -> isNamespaced = Boolean.TRUE.equals(in.truth());
      }
    }
    return new ServedResource(plural, kind, isNamespaced);
  }

  private static <F> VersionedObject<ObjectDecodeResult<F>> item(WatchedKind<F> kind,
      JsonParser parser) {
    requireObject(parser);
    return kind.decode(parser);
  }

  private static JsonCursor cursor(JsonParser parser) {
    parser.nextToken();
    return started(parser);
  }

  private static JsonCursor started(JsonParser parser) {
    requireObject(parser);
    return new JsonCursor(parser, new ArrayList<>(0));
  }

  private static void requireObject(JsonParser parser) {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw new IllegalStateException("a JSON object is missing");
    }
  }
}
