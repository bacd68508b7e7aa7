package dev.activator.embedded.runtime.policy;

import java.util.Comparator;
import java.util.List;

/** Decides which revisions a Service keeps, and whether its template needs a new one. */
public record ServiceRevisionPlanner(List<Entry> entries) {
  /**
   * The newest, and as many as Knative's {@code min-non-active-revisions}. Older ones are deleted; kept ones still
   * take requests by name.
   */
  static final int KEPT = 21;

  public record Entry(int number, String template) {}

  public record Plan(Entry latest, boolean fresh, List<Entry> stale) {}

  public ServiceRevisionPlanner {
    entries = entries.stream().sorted(Comparator.comparingInt(Entry::number)).toList();
  }

  /** A template makes a new revision unless the newest has it. */
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
