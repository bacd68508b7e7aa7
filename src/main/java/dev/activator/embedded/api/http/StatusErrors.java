package dev.activator.embedded.api.http;

import dev.activator.config.SpellingSuggester;
import dev.activator.embedded.api.policy.ReadParameters.InvalidParameter;
import dev.activator.embedded.api.policy.ResourcePath;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.JsonPatch.PatchException;
import dev.activator.embedded.api.store.Kind;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/** Makes the errors for requests that the embedded API does not serve. */
final class StatusErrors {
  private StatusErrors() {}

  static StatusException noSuchResource() {
    return new StatusException(404, "NotFound", "the server could not find the requested resource",
        Json.object());
  }

  /**
   * The error for an unknown kind. It names the most similar kind, or the version of the API that
   * has the kind.
   */
  static StatusException unknownKind(List<Kind> kinds, ResourcePath path) {
    String version = (path.group().isEmpty() ? "" : path.group() + "/") + path.version();
    var nearest = SpellingSuggester.nearest(path.plural(),
        kinds.stream().map(Kind::plural).toList());
    String hint = kinds.stream().filter(kind -> kind.plural().equals(nearest)).findFirst()
        .map(kind -> "; the nearest is " + kind.plural() + " of " + kind.apiVersion()).orElse("");
    return new StatusException(404, "NotFound", "the server could not find the requested resource:"
        + " there are no " + path.plural() + " in " + version + hint, Json.object());
  }

  static StatusException method() {
    return new StatusException(405, "MethodNotAllowed",
        "the server does not allow this method on the requested resource", Json.object());
  }

  static StatusException notAcceptable() {
    return new StatusException(406, "NotAcceptable",
        "only the following media types are accepted: application/json", Json.object());
  }

  static StatusException unknownFormat(List<String> accepted) {
    return new StatusException(415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
            + String.join(", ", accepted),
        Json.object());
  }

  static StatusException tooLarge() {
    return new StatusException(413, "RequestEntityTooLarge",
        "the request is larger than " + ApiBodyReader.LIMIT_BYTES + " bytes", Json.object());
  }

  static StatusException foreign(String why) {
    return new StatusException(403, "Forbidden", why, Json.object());
  }

  static StatusException notOffered(String what, String why) {
    return new StatusException(405, "MethodNotAllowed",
        "this server does not offer " + what + ": " + why, Json.object());
  }

  static StatusException patch(PatchException unfit) {
    return new StatusException(422, "Invalid",
        "the server rejected our request due to an error in our request: " + unfit.getMessage(),
        Json.object());
  }

  static StatusException unsupported(String options, String field, String value,
      List<String> supported) {
    String values = supported.stream().map(one -> '"' + one + '"')
        .collect(Collectors.joining(", "));
    return options(options, "FieldValueNotSupported", field,
        "Unsupported value: \"" + value + "\": supported values: " + values);
  }

  static StatusException parameter(InvalidParameter invalid) {
    String message = String.valueOf(invalid.getMessage());
    return switch (invalid.flaw()) {
      case MALFORMED -> StatusException.badRequest(message);
      case FORBIDDEN -> options("ListOptions", "FieldValueForbidden", invalid.field(), message);
      case UNSUPPORTED ->
        options("ListOptions", "FieldValueNotSupported", invalid.field(), message);
    };
  }

  static StatusException forcedUpdate() {
    return options("PatchOptions", "FieldValueForbidden", "force",
        "Forbidden: may not be specified for non-apply patch");
  }

  static StatusException managerMissing() {
    return options("PatchOptions", "FieldValueRequired", "fieldManager",
        "Required value: is required for apply patch");
  }

  static StatusException options(String kind, String reason, String field, String message) {
    ObjectNode details = Json.object().put("group", "meta.k8s.io").put("kind", kind);
    details.putArray("causes").addObject().put("reason", reason).put("message", message)
        .put("field", field);
    return new StatusException(422, "Invalid",
        "%s.meta.k8s.io \"\" is invalid: %s: %s".formatted(kind, field, message), details);
  }
}
