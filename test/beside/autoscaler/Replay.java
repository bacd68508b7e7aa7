import dev.activator.revision.QueueTimeHistogram;
import dev.activator.standalone.autoscaler.policy.LoadSample;
import dev.activator.standalone.autoscaler.policy.ScaleDecider;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Replays hours through this autoscaler's decider and planner, with the ready pods and replicas
 * that Knative's had. Arguments: the hours, and the folder with its lines.
 */
class Replay {
  private static final long SECOND = 1_000_000_000;

  static void main(String[] arguments) throws Exception {
    var folder = Path.of(arguments[1]);
    for (var hour : JsonMapper.shared().readTree(Files.readString(Path.of(arguments[0])))) {
      var name = hour.get("name").asString();
      var lines = replay(hour, Files.readAllLines(folder.resolve(name + ".knative")));
      Files.write(folder.resolve(name + ".ours"), lines);
    }
  }

  private static ArrayList<String> replay(JsonNode hour, Iterable<String> theirs) {
    var annotations = new HashMap<String, String>();
    hour.get("annotations").properties().forEach(one -> annotations.put(one.getKey(), one.getValue().asString()));
    // Knative's default is initial-scale 1.
    annotations.putIfAbsent("autoscaling.knative.dev/initial-scale", "1");
    var settings = ScalingAnnotations.settings(annotations, hour.get("containerConcurrency").intValue(),
        new ScalingAnnotations.Defaults(Duration.ofMinutes(1), 0));
    var decider = new ScaleDecider(0, 0, settings.windows());
    var planner = new ScaleWritePlanner(0, OptionalInt.empty());
    var decision = decider.decide(0, 0, settings);
    boolean decided = false;
    var lines = new ArrayList<String>();
    for (var line : theirs) {
      var fields = line.split(" ");
      int second = Integer.parseInt(fields[0]);
      int ready = Integer.parseInt(fields[1]);
      int replicas = Integer.parseInt(fields[2]);
      long now = second * SECOND;
      var report = hour.get("reports").get(second);
      boolean poked = false;
      if (!report.isNull()) {
        var sample = new LoadSample("activator", report.get(0).doubleValue(), report.get(1).doubleValue(), QueueTimeHistogram.NONE);
        decider.record(now, sample, settings);
        if (sample.isDemand()) {
          planner.demanded(now, sample.concurrency() > 0);
        }
        // Here a report is also decided on at once while no pod is ready; Knative's rule makes the same ticks.
        poked = sample.concurrency() > 0 && decided && decision.pods() == 0;
      }
      if (second > 0 && second % 2 == 0 || poked) {
        decision = decider.decide(now, ready, settings);
        decided = true;
      }
      var plan = planner.plan(now, new ScaleWritePlanner.Situation(decision, replicas, ready, true, true), settings);
      int after = plan.write().orElse(replicas);
      var active = switch (planner.activity().state()) {
        case TRUE -> "True";
        case FALSE -> "False";
        case UNKNOWN -> "Unknown";
      };
      lines.add(second + " " + ready + " " + replicas + " " + (decided ? decision.pods() : -1) + " " + after + " " + active);
    }
    return lines;
  }
}
