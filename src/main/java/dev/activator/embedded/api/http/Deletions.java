package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CachedObject;
import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.api.store.Preconditions;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/**
 * What a client says about how to delete. There is no garbage collection and no grace here: the
 * propagation policy is checked and passed over, as is the grace period.
 *
 * @param preconditions what must hold of an object
 * @param trial whether nothing is to be deleted really
 */
record Deletions(Preconditions preconditions, Query.Trial trial) {
  private static final Set<String> POLICIES = Set.of("", "Background", "Foreground", "Orphan");

  static Deletions of(Query query, JsonNode body) {
    checkKind(body);
    checkPolicy(query.text("propagationPolicy"));
    checkPolicy(text(body, "propagationPolicy"));
    typed(body, "gracePeriodSeconds", JsonNode::isIntegralNumber, "a number");
    typed(body, "dryRun", JsonNode::isArray, "a list");
    typed(body, "preconditions", JsonNode::isObject, "an object");
    var trials = body.path("dryRun").valueStream().map(trial -> trial.asString("")).toList();
    var only = body.path("preconditions");
    return new Deletions(new Preconditions(text(only, "uid"), text(only, "resourceVersion")),
        trials.isEmpty() ? query.trial() : Query.trial(trials));
  }

  /** What was meant for another request must not delete anything. */
  private static void checkKind(JsonNode body) {
    String kind = text(body, "kind");
    if (!kind.isEmpty() && !kind.equals("DeleteOptions")) {
      throw ApiException
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
      throw ApiException.badRequest(field + " is not " + type);
    }
  }

  /** Deletes an object as it was seen, or none: one made anew under its name is another. */
  void apply(ApiStore store, Kind kind, CachedObject seen) {
    var object = seen.object();
    preconditions.check(kind, object);
    var same = new Preconditions(Meta.uid(object), preconditions.resourceVersion());
    try {
      trial.on(store).delete(kind, Meta.namespace(object), Meta.name(object), same);
    } catch (ApiException refused) {
      var now = store.find(kind, Meta.namespace(object), Meta.name(object));
      boolean gone = now == null || !Meta.uid(now).equals(Meta.uid(object));
      // Someone else deleted it meanwhile: what was asked for holds.
      if (!gone) {
        throw refused;
      }
    }
  }

  private static void checkPolicy(String policy) {
    if (!POLICIES.contains(policy)) {
      throw Refusals.unsupported("DeleteOptions", "propagationPolicy", policy,
          List.of("Background", "Foreground", "Orphan"));
    }
  }
}
