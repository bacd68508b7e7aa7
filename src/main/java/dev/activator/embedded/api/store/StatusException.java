package dev.activator.embedded.api.store;

import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/**
 * A failure that becomes a Status object in the response.
 *
 * <p><b>Source.</b> {@code api/errors/errors.go} in Kubernetes' apimachinery, for texts and
 * reasons.
 */
public final class StatusException extends RuntimeException {
  private final int code;
  private final String reason;
  private final ObjectNode details;
  private final String continueToken;

  public record Cause(String reason, String field, String message) {}

  public StatusException(int code, String reason, String message, ObjectNode details) {
    this(code, reason, message, details, "");
  }

  private StatusException(int code, String reason, String message, ObjectNode details,
      String continueToken) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.continueToken = continueToken;
  }

  public static StatusException notFound(Kind kind, String name) {
    return about(404, "NotFound", kind, name, "%s \"%s\" not found");
  }

  public static StatusException alreadyExists(Kind kind, String name) {
    return about(409, "AlreadyExists", kind, name, "%s \"%s\" already exists");
  }

  /** An object with this name still waits for its finalizers. */
  public static StatusException beingDeleted(Kind kind, String name) {
    return about(409, "AlreadyExists", kind, name,
        "object is being deleted: %s \"%s\" already exists");
  }

  public static StatusException noFreeName(Kind kind, String base) {
    var refused = about(409, "AlreadyExists", kind, base, "%s \"%s\" already exists, the server was"
        + " not able to generate a unique name for the object");
    refused.details.put("retryAfterSeconds", 1);
    return refused;
  }

  public static StatusException forbidden(Kind kind, String name, String why) {
    return about(403, "Forbidden", kind, name, "%s \"%s\" is forbidden: " + why.replace("%", "%%"));
  }

  public static StatusException namespaceTerminating(Kind kind, String name, String namespace) {
    var refused = forbidden(kind, name, "unable to create new content in namespace " + namespace
        + " because it is being terminated");
    refused.details.putArray("causes").addObject().put("reason", "NamespaceTerminating")
        .put("message", "namespace " + namespace + " is being terminated")
        .put("field", "metadata.namespace");
    return refused;
  }

  public static StatusException conflict(Kind kind, String name) {
    return conflict(kind, name, "the object has been modified; please apply your changes to the"
        + " latest version and try again");
  }

  public static StatusException conflict(Kind kind, String name, String why) {
    return about(409, "Conflict", kind, name,
        "Operation cannot be fulfilled on %s \"%s\": " + why.replace("%", "%%"));
  }

  /** A conflict: other managers own some of the applied fields. */
  public static StatusException applyConflict(String message, List<Cause> causes) {
    return new StatusException(409, "Conflict", message, details(causes));
  }

  public static StatusException uidConflict(Kind kind, String name, String wanted, String stored) {
    return conflict(kind, name, ("the UID in the precondition (%s) does not match the UID in record"
        + " (%s). The object might have been deleted and then recreated")
        .formatted(wanted, stored));
  }

  public static StatusException badRequest(String message) {
    return new StatusException(400, "BadRequest", message, Json.object());
  }

  /** The state of the list is too old. The token continues with the newest state. */
  public static StatusException expired(String message, String token) {
    return new StatusException(410, "Expired", message, Json.object(), token);
  }

  public static StatusException expired(String message) {
    return expired(message, "");
  }

  public static StatusException tooNew(long requested, long current) {
    var details = Json.object();
    details.putArray("causes").addObject().put("reason", "ResourceVersionTooLarge").put("message",
        "Too large resource version");
    details.put("retryAfterSeconds", 1);
    return new StatusException(504, "Timeout",
        "Timeout: Too large resource version: %d, current: %d".formatted(requested, current),
        details);
  }

  public static StatusException notReady(int retryAfterSeconds) {
    return new StatusException(429, "TooManyRequests", "storage is (re)initializing",
        Json.object().put("retryAfterSeconds", retryAfterSeconds));
  }

  public static StatusException internal(String message) {
    return new StatusException(500, "", message, Json.object());
  }

  /**
   * An invalid value, for instance found by an admission hook. The store adds the object's name.
   *
   * @param field such as {@code spec.template.spec.containers[0].command}
   * @param message the problem, and which values are valid
   */
  public static StatusException invalid(String field, String message) {
    return of(List.of(new Cause("FieldValueInvalid", field, message)), field + ": " + message);
  }

  public static StatusException invalid(List<Cause> causes) {
    var texts = causes.stream().map(cause -> cause.field() + ": " + cause.message()).toList();
    return of(causes, texts.size() == 1 ? texts.getFirst() : texts.toString());
  }

  public static StatusException required(String field, String message) {
    String text = "Required value: " + message;
    return of(List.of(new Cause("FieldValueRequired", field, text)), field + ": " + text);
  }

  public static StatusException forbidden(String field, String message) {
    String text = "Forbidden: " + message;
    return of(List.of(new Cause("FieldValueForbidden", field, text)), field + ": " + text);
  }

  public StatusException naming(Kind kind, String name) {
    if (!reason.equals("Invalid") || details.has("name")) {
      return this;
    }
    var named = named(details.deepCopy(), kind, name).put("kind", kind.kind());
    String message = "%s \"%s\" is invalid: %s".formatted(kind.qualifiedKind(), name, getMessage());
    return new StatusException(code, reason, message, named);
  }

  public int code() {
    return code;
  }

  public String reason() {
    return reason;
  }

  /** The pause that the client should make; 0 for none. */
  public int retryAfterSeconds() {
    return details.path("retryAfterSeconds").intValue(0);
  }

  public ObjectNode status() {
    var status = Json.object().put("kind", "Status").put("apiVersion", "v1");
    var metadata = status.putObject("metadata");
    if (!continueToken.isEmpty()) {
      metadata.put("continue", continueToken);
    }
    status.put("status", "Failure").put("message", getMessage());
    if (!reason.isEmpty()) {
      status.put("reason", reason);
    }
    if (!details.isEmpty() || code == 404) {
      status.set("details", details);
    }
    return status.put("code", code);
  }

  private static StatusException about(int code, String reason, Kind kind, String name,
      String text) {
    return new StatusException(code, reason, text.formatted(kind.resource(), name),
        named(Json.object(), kind, name).put("kind", kind.plural()));
  }

  private static ObjectNode named(ObjectNode details, Kind kind, String name) {
    details.put("name", name);
    return kind.group().isEmpty() ? details : details.put("group", kind.group());
  }

  private static StatusException of(List<Cause> causes, String message) {
    return new StatusException(422, "Invalid", message, details(causes));
  }

  private static ObjectNode details(List<Cause> causes) {
    var details = Json.object();
    var list = details.putArray("causes");
    for (var cause : causes) {
      list.addObject().put("reason", cause.reason()).put("message", cause.message()).put("field",
          cause.field());
    }
    return details;
  }
}
