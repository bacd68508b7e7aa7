package dev.activator.ext.coldstarts;

import dev.activator.config.RevisionAnnotations;
import dev.activator.config.RevisionAnnotations.Row;
import java.util.List;

/** The allowed value of the annotation that {@link ServerTimingHeader} reads. */
public final class ServerTimingAnnotation implements RevisionAnnotations.OfExtension {
  @Override
  public List<Row> rows() {
    return List.of(new Row("server-timing", "enabled"::equals, "enabled"));
  }
}
