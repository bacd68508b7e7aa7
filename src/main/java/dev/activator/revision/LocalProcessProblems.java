package dev.activator.revision;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The problems of a revision's processes on this machine: why none is ready, and which were
 * restarted.
 *
 * @param problem why none is ready; may be empty
 * @param restarting whether none is ready because a process that served requests has ended
 * @param pods the pods that were restarted, or will be
 * @param output the last lines that these pods printed
 */
public record LocalProcessProblems(String problem, boolean restarting, List<Restarted> pods,
    List<String> output) {
  public static final LocalProcessProblems NONE = new LocalProcessProblems("", false, List.of(),
      List.of());

  public LocalProcessProblems {
    pods = List.copyOf(pods);
    output = List.copyOf(output);
  }

  /**
   * @param times how often the process was restarted
   * @param nextTry when it will be restarted; null while it runs
   * @param lastEnd how the process ended the last time; may be empty
   */
  public record Restarted(String pod, int times, @Nullable Instant nextTry, String lastEnd) {}
}
