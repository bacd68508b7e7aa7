package dev.activator.proxy.policy;

import dev.activator.proxy.policy.field.Field;
import dev.activator.proxy.policy.field.Fields;
import org.jspecify.annotations.Nullable;

/**
 * The kubelet asks whether this process lives and is ready.
 *
 * <p>
 * <b>Source.</b> {@code HealthHandler} in Knative's {@code healthz/handler.go}: anybody who sends
 * such a header gets this answer.
 */
public final class KubeletProbe {
  private KubeletProbe() {}

  public static boolean is(Fields fields) {
    String agent = fields.first(Field.USER_AGENT);
    return (agent != null && agent.startsWith("kube-probe/"))
        || !fields.text(Field.KUBELET_PROBE).isEmpty();
  }

  /** The answer; {@code problem} is null while all is well. */
  public static Answer answer(@Nullable String problem) {
    return problem == null ? Answer.empty(200) : Answer.error(500, problem);
  }
}
