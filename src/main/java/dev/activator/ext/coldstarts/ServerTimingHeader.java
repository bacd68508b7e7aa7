package dev.activator.ext.coldstarts;

import dev.activator.config.RevisionAnnotations;
import dev.activator.config.RevisionAnnotations.Row;
import java.util.List;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.Revision;
import org.jspecify.annotations.Nullable;

/**
 * Shows the caller how the time of its request was spent, by the header {@code Server-Timing}, where
 * the revision enables that.
 */
final class ServerTimingHeader implements RequestObserver {
  private static final String NAME = "Server-Timing";
  private static final String ANNOTATION = "activator.dev/server-timing";
  private static final int SWITCHING_PROTOCOLS = 101;

  @Override
  public void saw(Step step, RequestTimeline request) {
    if (step == Step.FORWARDING && isShown(request.revision())) {
      request.time();
    } else if (step == Step.RESPONDING && request.responseStatus() != SWITCHING_PROTOCOLS
        && isShown(request.revision())) {
      request.addResponseHeader(NAME, request.phases().serverTiming());
    }
  }

  private static boolean isShown(@Nullable Revision revision) {
    return revision != null && "enabled".equalsIgnoreCase(revision.annotations().get(ANNOTATION));
  }

  /** The allowed value of the annotation. */
  public static final class AllowedValue implements RevisionAnnotations.OfExtension {
    @Override
    public List<Row> rows() {
      return List.of(new Row("server-timing", "enabled"::equals, "enabled"));
    }
  }
}
