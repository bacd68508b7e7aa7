package dev.activator.embedded.api.http;

import dev.activator.embedded.api.policy.Freshness;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Deletion;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.api.store.ObjectWrites;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/** Answers creates, updates and deletes. */
final class Writes {
  private final ApiStore store;
  private final Reads reads;

  Writes(ApiStore store, Reads reads) {
    this.store = store;
    this.reads = reads;
  }

  Mono<ServerResponse> create(Target target, ServerRequest request) {
    var writes = new Query(request).trial().on(store);
    return Bodies.object(request)
        .flatMap(body -> Answers.created(writes.create(target.kind(), target.place(body))));
  }

  Mono<ServerResponse> update(Target target, ServerRequest request) {
    var writes = new Query(request).trial().on(store);
    return Bodies.object(request).flatMap(body -> switch (target.subresource()) {
      case "status" -> Answers.ok(writes.replaceStatus(target.kind(), target.named(body)));
      case "scale" -> Answers.ok(scale(writes, target, body));
      default -> replace(writes, target, target.named(body));
    });
  }

  Mono<ServerResponse> delete(Target target, ServerRequest request) {
    return Bodies.options(request).flatMap(body -> {
      var options = Deletions.of(new Query(request), body);
      var deletion = options.trial().on(store).delete(target.kind(), target.namespace(),
          target.name(), options.preconditions());
      return Answers.ok(deletion.outcome() == Deletion.Outcome.GONE
          ? gone(target.kind(), deletion.object())
          : deletion.object());
    });
  }

  /** Deletes all that is selected; the answer lists it. */
  Mono<ServerResponse> deleteAll(Target target, ServerRequest request) {
    var query = new Query(request);
    var selection = query.selection(target);
    return Bodies.options(request).map(body -> Deletions.of(query, body))
        .flatMap(options -> reads.snapshot(target.kind(), new Freshness.Newest())
            .map(snapshot -> Page.all(snapshot, selection)).flatMap(page -> {
              page.objects().forEach(object -> options.apply(store, target.kind(), object));
              return Answers.json(200, new PlainForm(target.kind()).list(page));
            }));
  }

  private Mono<ServerResponse> replace(ObjectWrites writes, Target target, ObjectNode wanted) {
    boolean fresh = store.find(target.kind(), target.namespace(), target.name()) == null;
    var stored = writes.update(target.kind(), wanted);
    return fresh ? Answers.created(stored) : Answers.ok(stored);
  }

  private static ObjectNode scale(ObjectWrites writes, Target target, ObjectNode scale) {
    Scales.check(scale);
    return Scales.of(writes.edit(target.kind(), target.namespace(), target.name(),
        object -> Scales.apply(object, scale)));
  }

  private static ObjectNode gone(Kind kind, ObjectNode last) {
    var status = Json.object().put("kind", "Status").put("apiVersion", "v1");
    status.putObject("metadata");
    var details = status.put("status", "Success").putObject("details").put("name", Meta.name(last));
    if (!kind.group().isEmpty()) {
      details.put("group", kind.group());
    }
    details.put("kind", kind.plural()).put("uid", Meta.uid(last));
    return status;
  }
}
