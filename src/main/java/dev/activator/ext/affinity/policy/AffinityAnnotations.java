package dev.activator.ext.affinity.policy;

import dev.activator.config.RevisionAnnotations;
import dev.activator.config.RevisionAnnotations.Row;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** The allowed values of the annotations that {@link AffinityRule} reads. */
public final class AffinityAnnotations implements RevisionAnnotations.OfExtension {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._~-]{1,128}");
  private static final String NAMES = "a name of at most 128 letters, digits and . _ ~ -";

  @Override
  public List<Row> rows() {
    return List.of(
        new Row("affinity-cookie", text -> text.isEmpty() || NAME.matcher(text).matches(),
            "empty, or " + NAMES),
        new Row("affinity-header", text -> NAME.matcher(text).matches(), NAMES),
        new Row("affinity-query", text -> NAME.matcher(text).matches(), NAMES),
        new Row("affinity-mode", Set.of("prefer", "strict", "exclusive")::contains,
            "prefer, strict or exclusive"),
        new Row("affinity-on-pod-gone", Set.of("another", "reject")::contains,
            "another or reject"));
  }
}
