package dev.activator.embedded.api.http;

import static java.time.temporal.ChronoUnit.SECONDS;

import dev.activator.embedded.api.apply.FieldOwner;
import dev.activator.embedded.api.apply.FieldOwner.Operation;
import dev.activator.embedded.api.apply.FieldOwnership;
import dev.activator.embedded.api.apply.MergePatch;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ObjectWrites.ManagedFieldsUpdater;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.JsonPatch;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The handler of create, update and patch requests. It records the fields that the client owns. */
final class ApiWriteHandler {
  private static final String JSON = "application/json-patch+json";
  private static final String MERGE = "application/merge-patch+json";
  private static final String STRATEGIC = "application/strategic-merge-patch+json";
  private static final String APPLY = "application/apply-patch+yaml";
  /** The user agent of this process, which owns no fields, like the controllers of this server. */
  private static final String SELF = "activator";

  private final ApiStore store;

  ApiWriteHandler(ApiStore store) {
    this.store = store;
  }

  Mono<ServerResponse> create(RequestedResource target, ServerRequest request) {
    var query = new QueryParameters(request);
    var writes = query.writes(store).tracking(tracking(target, request, "CreateOptions"));
    var fields = FieldValidation.of(query, "CreateOptions", store);
    return ApiBodyReader.object(request).flatMap(body -> {
      var wanted = fields.checked(target.kind(), target.place(body), null);
      var stored = writes.create(target.kind(), wanted);
      return applied(target, stored, ApiResponseWriter.created(stored, fields.warnings()));
    });
  }

  Mono<ServerResponse> update(RequestedResource target, ServerRequest request) {
    var query = new QueryParameters(request);
    var writes = query.writes(store).tracking(tracking(target, request, "UpdateOptions"));
    var fields = FieldValidation.of(query, "UpdateOptions", store);
    return ApiBodyReader.object(request).flatMap(body -> switch (target.subresource()) {
      case "status" -> ApiResponseWriter.ok(writes.replaceStatus(target.kind(),
          fields.checked(target.kind(), target.named(body), stored(target))), fields.warnings());
      case "scale" ->
        ApiResponseWriter.ok(scale(writes, target, target.completed(body)));
      default -> replace(writes, target, target.named(body), fields);
    });
  }

  private Mono<ServerResponse> replace(ObjectWrites writes, RequestedResource target,
      ObjectNode wanted, FieldValidation fields) {
    var before = stored(target);
    var stored = writes.update(target.kind(), fields.checked(target.kind(), wanted, before));
    return applied(target, stored, before == null
        ? ApiResponseWriter.created(stored, fields.warnings())
        : ApiResponseWriter.ok(stored, fields.warnings()));
  }

  /** Responds when the write has taken effect, so that the client's next request can rely on it. */
  private Mono<ServerResponse> applied(RequestedResource target, ObjectNode stored,
      Mono<ServerResponse> answer) {
    return Mono.fromFuture(() -> store.applied(target.kind(), stored)).then(answer);
  }

  private static ObjectNode scale(ObjectWrites writes, RequestedResource target, ObjectNode scale) {
    ScaleSubresourceHandler.check(scale);
    return ScaleSubresourceHandler.of(target.kind(),
        writes.edit(target.kind(), target.namespace(), target.name(),
            object -> ScaleSubresourceHandler.apply(target.kind(), object, scale)));
  }

  Mono<ServerResponse> patch(RequestedResource target, ServerRequest request) {
    var query = new QueryParameters(request);
    var writes = query.writes(store);
    String type = ApiBodyReader.type(request);
    var accepted = accepted(target);
    if (!accepted.contains(type)) {
      return Mono.error(StatusErrors.unknownFormat(accepted));
    }
    var fields = FieldValidation.of(query, "PatchOptions", store);
    if (type.equals(APPLY)) {
      return apply(writes, target, query, fields, request);
    }
    if (!query.text("force").isEmpty()) {
      return Mono.error(StatusErrors.forcedUpdate());
    }
    var tracked = writes.tracking(tracking(target, request, "PatchOptions"));
    return ApiBodyReader.patch(request).flatMap(patch -> patched(tracked, target, fields,
        object -> target.subresource().equals("scale")
            ? ScaleSubresourceHandler.apply(target.kind(), object,
                patched(target.kind(), type,
                    ScaleSubresourceHandler.of(target.kind(), object), patch))
            : ApiBodyReader.object(patched(target.kind(), type, object, patch))));
  }

  /** The tracking by which the client owns the fields that its write changes. */
  private ManagedFieldsUpdater tracking(RequestedResource target, ServerRequest request,
      String options) {
    var manager = FieldOwner.updating(new QueryParameters(request).fieldManager(options),
        String.join("", request.headers().header("User-Agent")), target.subresource());
    return manager.name().equals(SELF)
        ? ManagedFieldsUpdater.NONE
        : (stored, written) -> owners(target, stored).update(stored, written, manager);
  }

  private FieldOwnership owners(RequestedResource target, @Nullable ObjectNode stored) {
    return FieldOwnership.of(target.kind(), store.now().truncatedTo(SECONDS).toString(), stored);
  }

  private Mono<ServerResponse> apply(ObjectWrites writes, RequestedResource target,
      QueryParameters query, FieldValidation fields, ServerRequest request) {
    String name = query.fieldManager("PatchOptions");
    if (name.isEmpty()) {
      return Mono.error(StatusErrors.managerMissing());
    }
    var manager = new FieldOwner(name, Operation.APPLY, target.subresource());
    // The apply sets the owners itself.
    var applying = writes.tracking((_, _) -> {
    });
    return ApiBodyReader.patch(request).flatMap(body -> {
      var patch = Json.withoutNulls(ApiBodyReader.object(body));
      if (patch.path("kind").asString("").isEmpty()) {
        throw StatusException.badRequest("invalid object type: /, Kind=");
      }
      var given = target.subresource().equals("scale")
          ? ScaleSubresourceHandler.config(target.kind(), patch)
          : patch;
      if (absent(target) && !ObjectMeta.uid(given).isEmpty()) {
        throw StatusException.conflict(target.kind(), target.name(),
            "uid mismatch: the provided object specified uid " + ObjectMeta.uid(given)
                + ", and no existing object was found");
      }
      var config = absent(target) ? target.named(given) : target.completed(given);
      UnaryOperator<ObjectNode> apply = object -> {
        var stored = object.isEmpty() ? null : object;
        fields.checked(target.kind(), config, stored);
        return Json.withoutNulls(
            owners(target, stored).apply(stored, config, manager, query.yes("force")));
      };
      return absent(target)
          ? create(applying, target, apply.apply(Json.object()), fields)
          : patched(applying, target, fields, apply);
    });
  }

  private boolean absent(RequestedResource target) {
    return target.subresource().isEmpty() && stored(target) == null;
  }

  private @Nullable ObjectNode stored(RequestedResource target) {
    return store.find(target.kind(), target.namespace(), target.name());
  }

  private Mono<ServerResponse> patched(ObjectWrites writes, RequestedResource target,
      FieldValidation fields, UnaryOperator<ObjectNode> patch) {
    var stored = write(writes, target, fields, patch);
    return applied(target, stored, ApiResponseWriter.ok(stored, fields.warnings()));
  }

  private Mono<ServerResponse> create(ObjectWrites writes, RequestedResource target,
      ObjectNode config, FieldValidation fields) {
    var wanted = fields.checked(target.kind(), config, null);
    var stored = writes.create(target.kind(), wanted);
    return applied(target, stored, ApiResponseWriter.created(stored, fields.warnings()));
  }

  private static ObjectNode write(ObjectWrites writes, RequestedResource target,
      FieldValidation fields, UnaryOperator<ObjectNode> patch) {
    var kind = target.kind();
    UnaryOperator<ObjectNode> whole = object -> target.named(patch.apply(object));
    return switch (target.subresource()) {
      case "status" -> writes.updateStatus(kind, target.namespace(), target.name(), stored -> {
        var before = stored.deepCopy();
        return fields.checked(kind, whole.apply(stored), before);
      });
      case "scale" ->
        ScaleSubresourceHandler.of(kind,
            writes.edit(kind, target.namespace(), target.name(), whole));
      default -> writes.edit(kind, target.namespace(), target.name(), stored -> {
        var before = stored.deepCopy();
        var next = whole.apply(stored);
        if (!ObjectMeta.uid(next).isEmpty()
            && !ObjectMeta.uid(next).equals(ObjectMeta.uid(before))) {
          throw StatusException.invalid("metadata.uid",
              "Invalid value: \"" + ObjectMeta.uid(next) + "\": field is immutable")
              .naming(kind, target.name());
        }
        return fields.checked(kind, next, before);
      });
    };
  }

  private static JsonNode patched(Kind kind, String type, ObjectNode object, JsonNode patch) {
    return switch (type) {
      case JSON -> JsonPatch.apply(object, patch);
      case STRATEGIC -> MergePatch.strategic(kind, object, ApiBodyReader.object(patch));
      default -> {
        if (!(patch instanceof ObjectNode)) {
          throw StatusException.badRequest("a merge patch is an object");
        }
        yield MergePatch.apply(object, patch);
      }
    };
  }

  /**
   * The types of patches that are accepted. A strategic merge depends on the lists of a kind, so
   * only built-in kinds have it.
   */
  private static List<String> accepted(RequestedResource target) {
    var accepted = new ArrayList<>(List.of(JSON, MERGE, APPLY));
    if (target.kind().has(Trait.BUILT_IN)) {
      accepted.add(2, STRATEGIC);
    }
    return accepted;
  }
}
