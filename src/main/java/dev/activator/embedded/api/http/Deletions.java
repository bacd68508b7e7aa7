package dev.activator.embedded.api.http;

import dev.activator.embedded.api.Preconditions;
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

  private static void checkPolicy(String policy) {
    if (!POLICIES.contains(policy)) {
      throw Refusals.unsupported("DeleteOptions", "propagationPolicy", policy,
          List.of("Background", "Foreground", "Orphan"));
    }
  }
}
