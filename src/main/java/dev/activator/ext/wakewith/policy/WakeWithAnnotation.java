package dev.activator.ext.wakewith.policy;

import dev.activator.config.RevisionAnnotations;
import dev.activator.config.RevisionAnnotations.Row;
import java.util.List;
import java.util.regex.Pattern;

/** The allowed values of the annotation that {@link WakeWithNames} reads. */
public final class WakeWithAnnotation implements RevisionAnnotations.OfExtension {
  private static final String LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
  private static final String WORKLOAD = "\\s*" + LABEL + "([.]" + LABEL + ")?\\s*";
  private static final Pattern WORKLOADS = Pattern
      .compile("(" + WORKLOAD + "(," + WORKLOAD + ")*)?");

  @Override
  public List<Row> rows() {
    return List.of(new Row("wake-with", text -> WORKLOADS.matcher(text).matches(),
        "names with commas, such as b, c.other-namespace"));
  }
}
