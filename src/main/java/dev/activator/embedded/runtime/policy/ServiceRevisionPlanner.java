package dev.activator.embedded.runtime.policy;

import java.util.Comparator;
import java.util.List;

/**
 * Decides whether the template of a Service needs a new revision, and which old revisions are
 * deleted.
 */
public record ServiceRevisionPlanner(List<Entry> entries) {
  /**
   * The number of revisions that are kept: the newest one and 20 older ones, the default of Knative's
   * {@code min-non-active-revisions}. They still take requests by their own names. Older ones are
   * deleted.
   */
  static final int KEPT = 21;

  public record Entry(int number, String template) {}

  public record Plan(Entry latest, boolean fresh, List<Entry> stale) {}

  public ServiceRevisionPlanner {
    entries = entries.stream().sorted(Comparator.comparingInt(Entry::number)).toList();
  }

  /** The plan for a template. There is a new revision unless the newest has this template. */
  public Plan plan(String template) {
    if (!entries.isEmpty() && entries.getLast().template().equals(template)) {
      return new Plan(entries.getLast(), false, stale(KEPT));
    }
    int number = entries.isEmpty() ? 1 : entries.getLast().number() + 1;
    return new Plan(new Entry(number, template), true, stale(KEPT - 1));
  }

  private List<Entry> stale(int kept) {
    return entries.subList(0, Math.max(0, entries.size() - kept));
  }
}
