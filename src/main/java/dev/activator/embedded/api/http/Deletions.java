package dev.activator.embedded.api.http;

import dev.activator.embedded.api.ApiException;
import dev.activator.embedded.api.ApiStore;
import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.Meta;
import dev.activator.embedded.api.Preconditions;
import dev.activator.embedded.api.cache.CachedObject;
import java.util.List;
import java.util.Set;
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
    checkPolicy(query.text("propagationPolicy"));
    checkPolicy(body.path("propagationPolicy").stringValue(""));
    var trials = body.path("dryRun").valueStream().map(trial -> trial.asString("")).toList();
    var only = body.path("preconditions");
    return new Deletions(
        new Preconditions(only.path("uid").asString(""), only.path("resourceVersion").asString("")),
        trials.isEmpty() ? query.trial() : Query.trial(trials));
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
