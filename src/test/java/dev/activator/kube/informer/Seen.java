package dev.activator.kube.informer;

import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.kube.informer.InformerNotification.FinalState;
import dev.activator.kube.informer.InformerNotification.Updated;
import java.util.Arrays;
import java.util.List;

/** Short words for objects, and for what is said of them, in tests. */
public final class Seen {
  private Seen() {}

  /** An object whose content is its version. */
  public static VersionedObject<String> at(String key, int version) {
    return at(key, version, "content " + version);
  }

  public static VersionedObject<String> at(String key, int version, String content) {
    return new VersionedObject<>(key, "uid-" + key, Integer.toString(version), content);
  }

  /** Another object of the same name. */
  public static VersionedObject<String> again(String key, int incarnation, int version) {
    return new VersionedObject<>(key, "uid-" + key + "-" + incarnation, Integer.toString(version),
        "content " + version);
  }

  public static List<VersionedObject<String>> all(String... keyAtVersion) {
    return Arrays.stream(keyAtVersion).map(text -> text.split("@", 2))
        .map(parts -> at(parts[0], Integer.parseInt(parts[1]))).toList();
  }

  /** As in "add x@1", "update x@1 to 2", "delete x@3", "lost x@3". */
  public static String said(InformerNotification<String> notification) {
    return switch (notification) {
      case Added<String>(var now) -> "add " + said(now);
      case Updated<String>(var before, var now) ->
        "update " + said(before) + " to " + now.resourceVersion();
      case Deleted<String>(_, var last, var finalState) ->
        (finalState == FinalState.UNKNOWN ? "lost " : "delete ") + said(last);
    };
  }

  public static String said(VersionedObject<String> sighting) {
    return sighting.key() + "@" + sighting.resourceVersion();
  }
}
