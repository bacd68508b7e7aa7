package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.Selection;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.policy.ReadParameters;
import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ObjectWrites;
import java.util.List;
import org.springframework.web.reactive.function.server.ServerRequest;

/** Reads the query of a request. */
final class Query {
  /** Whether a write is a dry run. */
  enum DryRun {
    NO, YES;

    /** Where such writes go. */
    ObjectWrites on(ApiStore store) {
      return this == YES ? store.dryRun() : store.writes();
    }
  }

  /** Larger numbers are cut to this, so that sums do not overflow. */
  private static final long MOST = 999_999_999;

  private final ServerRequest request;

  Query(ServerRequest request) {
    this.request = request;
  }

  String text(String name) {
    return request.queryParam(name).orElse("");
  }

  /** Whether a flag is set; one without a value is. */
  boolean yes(String name) {
    return request.queryParam(name).filter(ReadParameters::isYes).isPresent();
  }

  long number(String name) {
    String text = text(name);
    if (text.isEmpty()) {
      return 0;
    }
    if (!text.matches("\\d{1,18}")) {
      throw ApiException.badRequest(
          "the parameter '%s' is not a number: \"%s\"".formatted(name, text));
    }
    return Math.min(Long.parseLong(text), MOST);
  }

  ReadParameters read() {
    var initial = request.queryParam("sendInitialEvents").map(_ -> yes("sendInitialEvents"));
    return new ReadParameters(text("resourceVersion"), text("resourceVersionMatch"), initial,
        number("limit"), !text("continue").isEmpty());
  }

  Selection selection(Target target) {
    var fields = FieldSelector.parse(text("fieldSelector"))
        .over(Selection.selectable(target.kind()));
    return new Selection(target.namespace(), LabelSelector.parse(text("labelSelector")), fields);
  }

  /** Whether what it asks for is a dry run. */
  DryRun dryRun() {
    return dryRun(request.queryParams().getOrDefault("dryRun", List.of()));
  }

  static DryRun dryRun(List<String> stages) {
    for (var stage : stages) {
      if (!stage.equals("All")) {
        throw Refusals.unsupported("WriteOptions", "dryRun", stage, List.of("All"));
      }
    }
    return stages.isEmpty() ? DryRun.NO : DryRun.YES;
  }

  /** What of each object comes with its row of a table. */
  TableForm.Include include() {
    return switch (text("includeObject")) {
      case "", "Metadata" -> TableForm.Include.METADATA;
      case "None" -> TableForm.Include.NOTHING;
      case "Object" -> TableForm.Include.ALL;
      default -> throw Refusals.unsupported("TableOptions", "includeObject",
          text("includeObject"), List.of("None", "Metadata", "Object"));
    };
  }

  /** The first shape the client accepts. */
  Form.Shape shape() {
    return Form.Shape.accepted(request.headers().accept()).orElseThrow(Refusals::notAcceptable);
  }
}
