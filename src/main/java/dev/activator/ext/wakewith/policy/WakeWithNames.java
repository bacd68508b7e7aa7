package dev.activator.ext.wakewith.policy;

import dev.activator.config.RevisionAnnotations;
import dev.activator.config.RevisionAnnotations.Row;
import java.util.stream.Stream;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses the annotation {@code activator.dev/wake-with}. The annotation names revisions, Knative Services or
 * ScaledServices that start together with the annotated one.
 */
public final class WakeWithNames {
  public static final String ANNOTATION = "activator.dev/wake-with";
  /** The maximum number of names in an annotation. */
  public static final int MAX_NAMES = 16;
  /** The maximum length of a chain of names. */
  static final int MAX_DEPTH = 5;

  private static final String LABEL = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
  private static final Pattern NAME = Pattern.compile("(" + LABEL + ")(?:[.](" + LABEL + "))?");

  private WakeWithNames() {}

  /**
   * Parses names that are separated by commas.
   *
   * @param namespace the namespace of a name without one
   * @param problems gets a sentence for each name that is ignored
   */
  public static List<RevisionId> parse(@Nullable String text, String namespace,
      Consumer<String> problems) {
    if (text == null || text.isBlank()) {
      return List.of();
    }
    var names = new LinkedHashSet<RevisionId>();
    for (var part : text.split(",", -1)) {
      var name = NAME.matcher(part.strip());
      if (!name.matches()) {
        problems.accept("'" + part.strip() + "' is neither NAME nor NAME.NAMESPACE");
      } else if (names.size() == MAX_NAMES) {
        problems.accept("'" + part.strip() + "' is one more than the " + MAX_NAMES
            + " names that count");
      } else {
        names.add(new RevisionId(name.group(2) == null ? namespace : name.group(2), name.group(1)));
      }
    }
    return List.copyOf(names);
  }

  /**
   * The revisions that start because {@code first} does, the nearest first, without {@code first}
   * itself. Each revision is visited once, so cycles are harmless.
   *
   * @param next returns the revisions that a revision names
   */
  public static List<RevisionId> closure(RevisionId first,
      Function<RevisionId, ? extends List<RevisionId>> next) {
    var found = new LinkedHashSet<>(List.of(first));
    var level = List.of(first);
    for (int depth = 0; depth < MAX_DEPTH && !level.isEmpty(); depth++) {
      var further = new ArrayList<RevisionId>();
      for (var one : level) {
        next.apply(one).stream().filter(found::add).forEach(further::add);
      }
      level = further;
    }
    found.remove(first);
    return List.copyOf(found);
  }

  /** The allowed values of the annotation. */
  public static final class AllowedValues implements RevisionAnnotations.OfExtension {
    @Override
    public List<Row> rows() {
      return List.of(new Row("wake-with", text -> text.isEmpty() || Stream.of(text.split(",", -1))
          .allMatch(part -> NAME.matcher(part.strip()).matches()),
          "names with commas, such as b, c.other-namespace"));
    }
  }
}
