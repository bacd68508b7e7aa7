package dev.activator.embedded.api.http;

import dev.activator.embedded.api.policy.ResourcePath;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kind.Trait;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves the kinds whose objects are computed, not stored: access reviews, which allow everything,
 * and the identity of the caller.
 */
final class ComputedKinds {
  private static final Kind ACCESS_REVIEW = review("authorization.k8s.io",
      "SelfSubjectAccessReview");
  private static final Kind RULES_REVIEW = review("authorization.k8s.io",
      "SelfSubjectRulesReview");
  private static final Kind SUBJECT_REVIEW = review("authentication.k8s.io", "SelfSubjectReview");
  static final List<Kind> ALL = List.of(ACCESS_REVIEW, RULES_REVIEW, SUBJECT_REVIEW);
  private static final String ANYTHING = "*";

  private ComputedKinds() {}

  private static Kind review(String group, String kind) {
    return Kind.of(group, "v1", kind, kind.toLowerCase(Locale.ROOT) + "s",
        Trait.CLUSTER_SCOPED);
  }

  /** The response; empty if the path belongs to another kind. */
  static Optional<Mono<ServerResponse>> answer(String path, ServerRequest request) {
    return ResourcePath.parse(path).flatMap(parsed -> ALL.stream()
        .filter(kind -> kind.group().equals(parsed.group())
            && kind.version().equals(parsed.version()) && kind.plural().equals(parsed.plural()))
        .findFirst())
        .map(kind -> request.method().equals(HttpMethod.POST)
            ? ApiBodyReader.object(request)
                .flatMap(review -> ApiResponseWriter.created(reviewed(kind, review), List.of()))
            : Mono.error(StatusErrors.method()));
  }

  private static ObjectNode reviewed(Kind kind, ObjectNode review) {
    var status = review.put("apiVersion", kind.apiVersion()).put("kind", kind.kind())
        .putObject("status");
    if (kind.equals(ACCESS_REVIEW)) {
      status.put("allowed", true).put("reason", "the embedded API allows everything");
    } else if (kind.equals(RULES_REVIEW)) {
      var rule = status.putArray("resourceRules").addObject();
      List.of("verbs", "apiGroups", "resources")
          .forEach(field -> rule.putArray(field).add(ANYTHING));
      var other = status.putArray("nonResourceRules").addObject();
      List.of("verbs", "nonResourceURLs").forEach(field -> other.putArray(field).add(ANYTHING));
      status.put("incomplete", false);
    } else {
      status.putObject("userInfo").put("username", "system:anonymous").putArray("groups")
          .add("system:unauthenticated");
    }
    return review;
  }
}
