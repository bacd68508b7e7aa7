package dev.activator.revision;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is unusual about the processes of a revision on this machine.
 *
 * @param problem why none is ready; may be empty
 * @param restarting whether none is ready because one that served has ended
 * @param pods those that were started again, or will be
 * @param output the last lines that they printed
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
   * @param times how often it was started again
   * @param nextTry when it will be; null while its process runs
   * @param lastEnd how its process ended; may be empty
   */
  public record Restarted(String pod, int times, @Nullable Instant nextTry, String lastEnd) {}
}
