package dev.activator.embedded.api.http;

import dev.activator.embedded.api.apply.FieldOwner;
import dev.activator.embedded.api.cache.ObjectSelection;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.policy.ReadParameters;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ObjectWrites;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.springframework.web.reactive.function.server.ServerRequest;

/** The query parameters of one request. */
final class QueryParameters {
  /** The limit of numbers and of their negatives, which prevents overflows of sums. */
  private static final long MAX_NUMBER = 999_999_999;

  private final ServerRequest request;

  QueryParameters(ServerRequest request) {
    this.request = request;
  }

  String text(String name) {
    return request.queryParam(name).orElse("");
  }

  /** Whether a flag is set. A flag without a value is. */
  boolean yes(String name) {
    return request.queryParam(name).filter(ReadParameters::isYes).isPresent();
  }

  long number(String name) {
    String text = text(name);
    if (text.isEmpty()) {
      return 0;
    }
    if (!text.matches("-?\\d{1,18}")) {
      throw StatusException.badRequest(
          "the parameter '%s' is not a number: \"%s\"".formatted(name, text));
    }
    return Math.clamp(Long.parseLong(text), -MAX_NUMBER, MAX_NUMBER);
  }

  /** Empty if the client leaves the time to the server; negative if it is over already. */
  Optional<Duration> timeout() {
    long seconds = number("timeoutSeconds");
    return seconds == 0 ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds));
  }

  ReadParameters read() {
    // Refuses text, also where a timeout has no effect.
    var _ = timeout();
    var initial = request.queryParam("sendInitialEvents").map(_ -> yes("sendInitialEvents"));
    return new ReadParameters(text("resourceVersion"), text("resourceVersionMatch"), initial,
        limit(), !text("continue").isEmpty());
  }

  /** The maximum number of objects; 0 for no limit. */
  long limit() {
    return Math.max(0, number("limit"));
  }

  /** The name of the field manager; empty if the client leaves it out. */
  String fieldManager(String options) {
    String name = text("fieldManager");
    if (name.length() > FieldOwner.MAX_LENGTH) {
      throw StatusErrors.options(options, "FieldValueTooLong", "fieldManager",
          "Too long: may not be more than " + FieldOwner.MAX_LENGTH + " bytes");
    }
    return name;
  }

  /** What is listed or watched. A path with a name selects that object. */
  ObjectSelection selection(RequestedResource target) {
    var fields = FieldSelector.parse(text("fieldSelector")).named(target.name())
        .over(ObjectSelection.selectable(target.kind()));
    return new ObjectSelection(target.namespace(), LabelSelector.parse(text("labelSelector")),
        fields);
  }

  ObjectWrites writes(ApiStore store) {
    return writes(request.queryParams().getOrDefault("dryRun", List.of()), store);
  }

  static ObjectWrites writes(List<String> dryRun, ApiStore store) {
    for (var stage : dryRun) {
      if (!stage.equals("All")) {
        throw StatusErrors.unsupported("WriteOptions", "dryRun", stage, List.of("All"));
      }
    }
    return dryRun.isEmpty() ? store.writes() : store.dryRun();
  }

  TableEncoder.Include include() {
    return switch (text("includeObject")) {
      case "", "Metadata" -> TableEncoder.Include.METADATA;
      case "None" -> TableEncoder.Include.NOTHING;
      case "Object" -> TableEncoder.Include.ALL;
      default -> throw StatusErrors.unsupported("TableOptions", "includeObject",
          text("includeObject"), List.of("None", "Metadata", "Object"));
    };
  }

  ApiObjectEncoder.Shape shape() {
    return ApiObjectEncoder.Shape.accepted(request.headers().accept())
        .orElseThrow(StatusErrors::notAcceptable);
  }
}
