package dev.activator.embedded.runtime.process;

import dev.activator.embedded.runtime.policy.LocalRevision;
import java.util.Map;
import java.util.TreeMap;

/**
 * One process to start.
 *
 * @param revision what it runs for
 * @param pod the name of its pod
 * @param port where it shall listen, on the loopback address
 */
public record ProcessSpec(LocalRevision revision, String pod, int port) {
  /** What its environment has besides the activator's own. */
  public Map<String, String> environment() {
    var variables = new TreeMap<>(revision.container().env());
    variables.put("PORT", Integer.toString(port));
    variables.put("K_REVISION", revision.id().name());
    variables.put("K_CONFIGURATION", revision.owner());
    variables.put("K_SERVICE", revision.owner());
    return variables;
  }
}
