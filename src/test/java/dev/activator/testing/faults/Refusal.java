package dev.activator.testing.faults;

import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Json;

/** What a write is told that came too late. */
final class Refusal {
  private Refusal() {}

  static StatusException of(Asked asked, Fault.RefusedWrite.Reason reason) {
    var about = asked.about();
    int dot = about.resource().indexOf('.');
    var details = Json.object().put("name", about.name());
    if (dot > 0) {
      details.put("group", about.resource().substring(dot + 1));
    }
    details.put("kind", dot > 0 ? about.resource().substring(0, dot) : about.resource());
    return switch (reason) {
      case CONFLICT -> new StatusException(409, "Conflict",
          "Operation cannot be fulfilled on %s \"%s\": the object has been modified; please apply"
              .formatted(about.resource(), about.name())
              + " your changes to the latest version and try again",
          details);
      case ALREADY_EXISTS -> new StatusException(409, "AlreadyExists",
          "%s \"%s\" already exists".formatted(about.resource(), about.name()), details);
    };
  }
}
