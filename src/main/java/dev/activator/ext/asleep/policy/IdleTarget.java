package dev.activator.ext.asleep.policy;

import dev.activator.config.ConfigValue;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.Set;

/**
 * A workload whose last pods are put to sleep instead of removed.
 *
 * @param method how; empty if its pods are only to be woken, because the field was removed
 * @param zeroAfter how long they are asleep until they are removed; zero for no limit
 * @param calls what puts them to sleep over HTTP
 * @param shrink the resources to which they are shrunk
 */
public record IdleTarget(ScaleTarget workload, String method, Duration idleAfter,
    Duration zeroAfter, SleepCalls calls, ShrinkSpec shrink)
    implements ScaleTarget {
  private static final int MAX_AFTER = 86_400;
  private static final int MAX_ZERO_AFTER = 604_800;
  private static final int MAX_LENGTH = 63;

  /**
   * @param possible the methods that are possible here
   * @throws IllegalArgumentException a sentence with the part that is invalid
   */
  public static IdleTarget of(ScaleTarget workload, IdleSpec idle, Set<String> possible) {
    if (idle.fields() == null) {
      return new IdleTarget(workload, "", Duration.ZERO, Duration.ZERO,
          SleepCalls.DEFAULT, ShrinkSpec.NONE);
    }
    var spec = new ConfigValue("spec.idle", idle.fields()).object("do", "afterSeconds",
        "thenZeroAfterSeconds", "sleep", "shrink");
    var method = spec.field("do").text(MAX_LENGTH);
    if (method == null || !possible.contains(method)) {
      throw new IllegalArgumentException(switch (method) {
        case "freeze" -> "spec.idle.do freeze is possible in embedded mode only";
        case "shrink" ->
          "spec.idle.do shrink is possible in a cluster only: local processes have no"
              + " resources";
        case null, default -> spec.field("do").mustBe("sleep, shrink or freeze").getMessage();
      });
    }
    var shrink = ShrinkSpec.read(spec.field("shrink"));
    if (method.equals("shrink") && shrink.isEmpty()) {
      throw new IllegalArgumentException(
          "spec.idle.shrink must have requests or limits, to which pods are shrunk");
    }
    return new IdleTarget(workload, method,
        Duration.ofSeconds(spec.field("afterSeconds").number(1, MAX_AFTER, 0)),
        Duration.ofSeconds(spec.field("thenZeroAfterSeconds").number(1, MAX_ZERO_AFTER, 0)),
        SleepCalls.read(spec.field("sleep")), shrink);
  }

  @Override
  public String kind() {
    return workload.kind();
  }

  @Override
  public String name() {
    return workload.name();
  }

  /** Kind and name, such as {@code Deployment web}. */
  @Override
  public String toString() {
    return workload.toString();
  }
}
