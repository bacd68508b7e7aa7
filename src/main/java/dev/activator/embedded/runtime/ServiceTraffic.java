package dev.activator.embedded.runtime;

import dev.activator.embedded.api.policy.ObjectNames;
import dev.activator.embedded.api.store.StatusException.Cause;
import dev.activator.embedded.runtime.policy.TrafficAssignment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads {@code spec.traffic} of a Knative Service, with its defaults and checks.
 *
 * <p><b>Source.</b> {@code route_defaults.go} and {@code route_validation.go} in
 * {@code knative.dev/serving/pkg/apis/serving/v1}.
 */
public final class ServiceTraffic {
  private static final String TRAFFIC = "spec.traffic";
  private static final Pattern DNS_1035 = Pattern.compile("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");

  private ServiceTraffic() {}

  /** The targets of a stored Service; of an object of another kind, none. */
  public static List<TrafficAssignment.Target> targets(JsonNode service) {
    return service.at("/spec/traffic").valueStream()
        .map(one -> new TrafficAssignment.Target(one.path("tag").asString(""),
            one.path("revisionName").asString(""), one.path("percent").asInt(0)))
        .toList();
  }

  static void setDefaults(ObjectNode spec) {
    if (spec.path("traffic").isEmpty()) {
      spec.putArray("traffic").addObject().put("latestRevision", true).put("percent", 100);
      return;
    }
    for (var one : spec.path("traffic")) {
      if (one instanceof ObjectNode target) {
        if (!target.hasNonNull("latestRevision")) {
          target.put("latestRevision", target.path("revisionName").asString("").isEmpty());
        }
        if (!target.hasNonNull("percent")) {
          target.put("percent", 0);
        }
      }
    }
  }

  static List<Cause> problems(JsonNode spec) {
    var causes = new ArrayList<Cause>();
    var indexByTag = new HashMap<String, Integer>();
    long sum = 0;
    int index = 0;
    for (var target : spec.path("traffic")) {
      String path = TRAFFIC + "[" + index + "]";
      check(target, path, causes);
      sum += target.path("percent").longValue(0);
      String tag = target.path("tag").asString("");
      var before = tag.isEmpty() ? null : indexByTag.putIfAbsent(tag, index);
      if (before != null) {
        causes.add(invalid(path + ".tag", "the tag \"" + tag + "\" is already that of " + TRAFFIC
            + "[" + before + "]"));
      }
      index++;
    }
    if (sum != 100) {
      causes.add(invalid(TRAFFIC, "Traffic targets sum to " + sum + ", want 100"));
    }
    return causes;
  }

  private static void check(JsonNode target, String path, List<Cause> causes) {
    String revision = target.path("revisionName").asString("");
    boolean latest = target.path("latestRevision").asBoolean(false);
    if (latest == !revision.isEmpty()) {
      causes.add(invalid(path + ".latestRevision", latest
          ? "may not be true when revisionName is \"" + revision + "\": leave one of them out"
          : "may not be false without a revisionName"));
    }
    if (!revision.isEmpty()) {
      ObjectNames.problemAsSubdomain(revision)
          .ifPresent(problem -> causes.add(invalid(path + ".revisionName", problem)));
    }
    var percent = target.path("percent");
    if (percent.longValue(0) < 0 || percent.longValue(0) > 100) {
      causes.add(invalid(path + ".percent", "expected 0 <= " + percent + " <= 100"));
    }
    String tag = target.path("tag").asString("");
    if (!tag.isEmpty() && !DNS_1035.matcher(tag).matches()) {
      causes.add(invalid(path + ".tag", "\"" + tag + "\" is not a DNS label: at most 63 lower case"
          + " letters, digits and '-', a letter first and no '-' last"));
    }
    for (var field : List.of("configurationName", "url")) {
      if (!target.path(field).asString("").isEmpty()) {
        causes.add(invalid(path + "." + field, "must not be set in a Service"));
      }
    }
  }

  private static Cause invalid(String field, String message) {
    return new Cause("FieldValueInvalid", field, message);
  }
}
