package dev.activator.console;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The watches of the Kubernetes API, as JSON.
 *
 * @param synced whether the first lists are complete
 */
public record ApiState(boolean synced, List<Watched> watches) {
  public ApiState {
    watches = List.copyOf(watches);
  }

  /**
   * @param alarmed whether no watch was open for too long
   * @param error the last failure; null once it works again
   */
  public record Watched(String resource, boolean watching, boolean alarmed,
      @Nullable String error) {
    @Nullable String problem() {
      if (error != null) {
        return resource + ": " + error;
      }
      return alarmed ? resource + ": no watch is open" : null;
    }
  }

  List<String> problems() {
    return watches.stream().<String>mapMulti((watch, out) -> {
      var problem = watch.problem();
      if (problem != null) {
        out.accept(problem);
      }
    }).toList();
  }
}
