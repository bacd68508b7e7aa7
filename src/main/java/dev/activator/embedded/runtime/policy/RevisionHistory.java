package dev.activator.embedded.runtime.policy;

import java.util.Comparator;
import java.util.List;

/**
 * The revisions a Service has.
 *
 * @param entries in any order
 */
public record RevisionHistory(List<Entry> entries) {
  /** Older revisions are deleted; those that are kept still take requests by name. */
  static final int KEPT = 3;

  /**
   * One revision.
   *
   * @param number 1 for a Service's first
   * @param template the fingerprint of the template it was made from
   */
  public record Entry(int number, String template) {}

  /**
   * The steps for a template.
   *
   * @param latest the revision that takes the Service's requests
   * @param fresh whether it is to be created
   * @param stale those to delete
   */
  public record Plan(Entry latest, boolean fresh, List<Entry> stale) {}

  public RevisionHistory {
    entries = entries.stream().sorted(Comparator.comparingInt(Entry::number)).toList();
  }

  /** A template that is not the newest revision's makes a new one, even if an older one had it. */
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
