package dev.activator.embedded.api.http;

import dev.activator.embedded.api.ApiException;
import dev.activator.embedded.api.cache.SelectableFields;
import dev.activator.embedded.api.cache.Selection;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.policy.ReadParameters;
import java.util.List;
import java.util.Optional;
import org.springframework.web.reactive.function.server.ServerRequest;

/** Reads the query of a request. */
final class Query {
  private final ServerRequest request;

  Query(ServerRequest request) {
    this.request = request;
  }

  String text(String name) {
    return request.queryParam(name).orElse("");
  }

  boolean yes(String name) {
    return List.of("true", "1").contains(text(name));
  }

  long number(String name) {
    String text = text(name);
    if (text.isEmpty()) {
      return 0;
    }
    if (!text.matches("\\d{1,9}")) {
      throw ApiException.badRequest(
          "the parameter '%s' is not a number: \"%s\"".formatted(name, text));
    }
    return Long.parseLong(text);
  }

  ReadParameters read() {
    var initial = text("sendInitialEvents").isEmpty()
        ? Optional.<Boolean>empty()
        : Optional.of(yes("sendInitialEvents"));
    return new ReadParameters(text("resourceVersion"), text("resourceVersionMatch"), initial,
        number("limit"), !text("continue").isEmpty());
  }

  Selection selection(Target target) {
    var fields = FieldSelector.parse(text("fieldSelector"))
        .over(SelectableFields.of(target.kind()));
    return new Selection(target.namespace(), LabelSelector.parse(text("labelSelector")), fields);
  }

  /** Nothing is written on trial here: better to say so than to write. */
  void refuseDryRun() {
    if (!text("dryRun").isEmpty()) {
      throw ApiException.badRequest("dryRun is not supported by this server");
    }
  }

  boolean wantsTable() {
    return request.headers().accept().stream()
        .anyMatch(type -> "Table".equals(type.getParameter("as")));
  }
}
