package dev.activator.console;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The watches of the Kubernetes API, as JSON.
 *
 * @param synced whether everything there was at the start has been received
 * @param watches one for each kind of object
 */
public record ApiState(boolean synced, List<Watched> watches) {
  public ApiState {
    watches = List.copyOf(watches);
  }

  /**
   * The list and watch of one kind.
   *
   * @param resource the plural
   * @param watching whether a watch was open when it was last looked at
   * @param alarmed whether none has been for so long that people should look
   * @param complaint what failed last; null since it works again
   */
  public record Watched(String resource, boolean watching, boolean alarmed,
      @Nullable String complaint) {
    /** What is wrong, in a line; null if nothing is. */
    @Nullable String problem() {
      if (complaint != null) {
        return resource + ": " + complaint;
      }
      return alarmed ? resource + ": no watch is open" : null;
    }
  }

  /** What is wrong, a line each. */
  List<String> problems() {
    return watches.stream().<String>mapMulti((watch, out) -> {
      var problem = watch.problem();
      if (problem != null) {
        out.accept(problem);
      }
    }).toList();
  }
}
