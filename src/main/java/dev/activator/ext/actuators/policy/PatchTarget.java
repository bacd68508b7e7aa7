package dev.activator.ext.actuators.policy;

import dev.activator.config.ConfigValue;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An object that is started and stopped by merge patches of its fields.
 *
 * @param running the merge patch that starts it
 * @param stopped the merge patch that stops it, which contradicts {@code running}
 * @param readyCondition the type of its condition that is True once its pods may get requests; null
 *     if that is left to the pods
 */
public record PatchTarget(ScaleTargetRef object, Map<?, ?> running, Map<?, ?> stopped,
    @Nullable String readyCondition)
    implements ScaleTarget {
  private static final int MAX_LENGTH = 317;
  /** What no patch may change, because other objects or the API's own controllers depend on it. */
  private static final Set<String> RESERVED = Set.of("apiVersion", "kind", "status");
  private static final Set<String> METADATA = Set.of("labels", "annotations");

  /** What an object's fields say. */
  public enum State {
    RUNNING,
    STOPPED,
    /** They are those of neither patch. */
    OTHER
  }

  /** @throws IllegalArgumentException a sentence with the part that is invalid */
  public static PatchTarget read(ConfigValue spec) {
    spec.object("apiVersion", "kind", "name", "running", "stopped", "readyCondition");
    var running = patch(spec.field("running"));
    var stopped = patch(spec.field("stopped"));
    if (!PatchedFields.contradict(running, stopped)) {
      throw new IllegalArgumentException(spec.path() + ".running and " + spec.path()
          + ".stopped must set a field to different values, by which the state is known;"
          + " kubectl apply leaves out nulls");
    }
    return new PatchTarget(new ScaleTargetRef(text(spec.field("apiVersion")),
        text(spec.field("kind")), text(spec.field("name"))), running, stopped,
        spec.field("readyCondition").text(MAX_LENGTH));
  }

  private static String text(ConfigValue field) {
    var text = field.text(MAX_LENGTH);
    if (text == null || text.isEmpty()) {
      throw field.mustBe("text");
    }
    return text;
  }

  private static Map<?, ?> patch(ConfigValue field) {
    if (!(field.value() instanceof Map<?, ?> patch) || patch.isEmpty()) {
      throw field.mustBe("an object with the fields to set");
    }
    RESERVED.stream().filter(patch::containsKey).forEach(name -> refuse(field, name));
    if (patch.get("metadata") instanceof Map<?, ?> metadata) {
      metadata.keySet().stream().filter(name -> !METADATA.contains(name))
          .forEach(name -> refuse(field, "metadata." + name));
    } else if (patch.containsKey("metadata")) {
      refuse(field, "metadata");
    }
    return patch;
  }

  private static void refuse(ConfigValue field, String name) {
    throw new IllegalArgumentException(field.path() + "." + name
        + " may not be set: of the metadata only labels and annotations, and no status");
  }

  /** @param object its fields, as texts, numbers, booleans, lists and maps */
  public State state(Map<?, ?> object) {
    return PatchedFields.differences(stopped, object).isEmpty()
        ? State.STOPPED
        : PatchedFields.differences(running, object).isEmpty() ? State.RUNNING : State.OTHER;
  }

  @Override
  public String startedBy() {
    return "patch";
  }

  @Override
  public String kind() {
    return object.kind();
  }

  @Override
  public String name() {
    return object.name();
  }

  /** Kind and name, such as {@code Sandbox web}. */
  @Override
  public String toString() {
    return object.toString();
  }
}
