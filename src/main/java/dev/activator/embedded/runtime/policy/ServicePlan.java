package dev.activator.embedded.runtime.policy;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a Service's template, and the revisions it has, call for.
 *
 * @param create the revision to make; null where none is missing
 * @param latest the name of the newest revision, to be made or there
 * @param delete names of revisions that are too old
 * @param problem why the template cannot become a revision; empty when it can
 */
public record ServicePlan(@Nullable NewRevision create, String latest, List<String> delete,
    String problem) {
  /** How many revisions of a Service stay. */
  public static final int KEPT = 3;

  /** A revision to be made; {@code number} counts the Service's templates, from 1. */
  public record NewRevision(String name, int number) {}

  /**
   * A revision there is.
   *
   * @param number which of the Service's templates it was
   * @param template fingerprint of that template
   */
  public record Known(String name, int number, String template) {}

  /**
   * What is asked for.
   *
   * @param service its name
   * @param template fingerprint of its template
   * @param revisionName the name the template itself asks for; empty for one by number
   */
  public record Wanted(String service, String template, String revisionName) {}

  /** Decides. A template seen before, but not last, makes a new revision all the same. */
  public static ServicePlan of(Wanted wanted, Collection<Known> revisions) {
    var newestFirst = revisions.stream().sorted(Comparator.comparing(Known::number).reversed())
        .toList();
    if (!newestFirst.isEmpty() && newestFirst.getFirst().template().equals(wanted.template())) {
      return new ServicePlan(null, newestFirst.getFirst().name(), tooOld(newestFirst, KEPT), "");
    }
    int number = newestFirst.isEmpty() ? 1 : newestFirst.getFirst().number() + 1;
    String name = wanted.revisionName().isEmpty()
        ? "%s-%05d".formatted(wanted.service(), number)
        : wanted.revisionName();
    if (revisions.stream().anyMatch(known -> known.name().equals(name))) {
      return new ServicePlan(null, newestFirst.getFirst().name(), List.of(), "revision " + name
          + " exists with another template: spec.template.metadata.name needs a new name");
    }
    return new ServicePlan(new NewRevision(name, number), name, tooOld(newestFirst, KEPT - 1), "");
  }

  private static List<String> tooOld(List<Known> newestFirst, int kept) {
    return newestFirst.stream().skip(kept).map(Known::name).toList();
  }
}
