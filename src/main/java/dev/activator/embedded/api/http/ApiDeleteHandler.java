package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import dev.activator.embedded.api.store.ObjectWrites.Deletion;
import dev.activator.embedded.api.store.ObjectWrites.Preconditions;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import dev.activator.embedded.api.store.ObjectWrites;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The handler of delete requests. */
final class ApiDeleteHandler {
  private final ApiStore store;
  private final ApiReadHandler reads;

  ApiDeleteHandler(ApiStore store, ApiReadHandler reads) {
    this.store = store;
    this.reads = reads;
  }

  Mono<ServerResponse> delete(RequestedResource target, ServerRequest request) {
    return ApiBodyReader.options(request).flatMap(body -> {
      var options = Options.of(new QueryParameters(request), body, store);
      var deletion = options.writes().delete(target.kind(), target.namespace(), target.name(),
          options.deletion());
      return ApiResponseWriter.ok(deletion.outcome() == Deletion.Outcome.GONE
          ? gone(target.kind(), deletion.object())
          : deletion.object());
    });
  }

  Mono<ServerResponse> deleteAll(RequestedResource target, ServerRequest request) {
    var query = new QueryParameters(request);
    var selection = query.selection(target);
    return ApiBodyReader.options(request).map(body -> Options.of(query, body, store))
        .flatMap(options -> reads.snapshot(target.kind(), new Freshness.Newest())
            .map(snapshot -> query.limit() > 0
                ? ListPage.of(snapshot, selection, "", query.limit())
                : ListPage.all(snapshot, selection))
            .flatMap(page -> {
              page.objects().forEach(object -> options.apply(store, target.kind(), object));
              return ApiResponseWriter.json(200, new FullObjectEncoder(target.kind()).list(page));
            }));
  }

  private static ObjectNode gone(Kind kind, ObjectNode last) {
    var status = Json.object().put("kind", "Status").put("apiVersion", "v1");
    status.putObject("metadata");
    var details = status.put("status", "Success").putObject("details").put("name",
        ObjectMeta.name(last));
    if (!kind.group().isEmpty()) {
      details.put("group", kind.group());
    }
    details.put("kind", kind.plural()).put("uid", ObjectMeta.uid(last));
    return status;
  }

  record Options(DeleteOptions deletion, ObjectWrites writes) {
    private static final List<String> POLICIES = List.of("Background", "Foreground", "Orphan");

    static Options of(QueryParameters query, JsonNode body, ApiStore store) {
      checkKind(body);
      typed(body, "orphanDependents", JsonNode::isBoolean, "true or false");
      typed(body, "gracePeriodSeconds", JsonNode::isIntegralNumber, "a number");
      typed(body, "dryRun", JsonNode::isArray, "a list");
      typed(body, "preconditions", JsonNode::isObject, "an object");
      var dryRun = body.path("dryRun").valueStream().map(stage -> stage.asString("")).toList();
      var only = body.path("preconditions");
      var preconditions = new Preconditions(text(only, "uid"), text(only, "resourceVersion"));
      return new Options(
          new DeleteOptions(preconditions, propagation(query, body), graceSeconds(query, body)),
          dryRun.isEmpty() ? query.writes(store) : QueryParameters.writes(dryRun, store));
    }

    private static void checkKind(JsonNode body) {
      String kind = text(body, "kind");
      if (!kind.isEmpty() && !kind.equals("DeleteOptions")) {
        throw StatusException
            .badRequest("the body of a delete is DeleteOptions, but is \"" + kind + "\"");
      }
    }

    private static String text(JsonNode from, String field) {
      typed(from, field, JsonNode::isString, "a string");
      return from.path(field).stringValue("");
    }

    private static void typed(JsonNode from, String field, Predicate<JsonNode> right, String type) {
      var value = from.path(field);
      if (!value.isMissingNode() && !value.isNull() && !right.test(value)) {
        throw StatusException.badRequest(field + " is not " + type);
      }
    }

    /** Deletes this object, but not a new object with the same name. */
    void apply(ApiStore store, Kind kind, WatchCacheObject seen) {
      var object = seen.object();
      deletion.preconditions().check(kind, object);
      var same = new Preconditions(ObjectMeta.uid(object),
          deletion.preconditions().resourceVersion());
      try {
        writes.delete(kind, ObjectMeta.namespace(object), ObjectMeta.name(object),
            new DeleteOptions(same, deletion.propagation(), deletion.graceSeconds()));
      } catch (StatusException e) {
        var now = store.stored(kind, object);
        boolean gone = now == null || !ObjectMeta.uid(now).equals(ObjectMeta.uid(object));
        // If the object was deleted in the meantime, nothing is left to do.
        if (!gone) {
          throw e;
        }
      }
    }

    private static @Nullable Long graceSeconds(QueryParameters query, JsonNode body) {
      if (body.path("gracePeriodSeconds").isIntegralNumber()) {
        return body.path("gracePeriodSeconds").asLong();
      }
      return query.text("gracePeriodSeconds").isEmpty()
          ? null
          : query.number("gracePeriodSeconds");
    }

    private static Propagation propagation(QueryParameters query, JsonNode body) {
      String inBody = text(body, "propagationPolicy");
      String policy = inBody.isEmpty() ? query.text("propagationPolicy") : inBody;
      if (!policy.isEmpty() && body.hasNonNull("orphanDependents")) {
        throw StatusErrors.options("DeleteOptions", "FieldValueInvalid", "propagationPolicy",
            "Invalid value: \"" + policy
                + "\": orphanDependents and deletionPropagation cannot be both set");
      }
      if (policy.isEmpty()) {
        return switch (body.path("orphanDependents").asString("")) {
          case "true" -> Propagation.ORPHAN;
          case "false" -> Propagation.BACKGROUND;
          default -> Propagation.UNSET;
        };
      }
      if (!POLICIES.contains(policy)) {
        throw StatusErrors.unsupported("DeleteOptions", "propagationPolicy", policy, POLICIES);
      }
      return Propagation.valueOf(policy.toUpperCase(Locale.ROOT));
    }
  }
}
