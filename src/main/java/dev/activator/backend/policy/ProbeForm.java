package dev.activator.backend.policy;

import dev.activator.revision.Revision;
import org.jspecify.annotations.Nullable;

/**
 * What a pod is asked, and which answer is good.
 *
 * @param path of the question
 * @param whoAnswers decides what is good
 */
public record ProbeForm(String path, WhoAnswers whoAnswers) {
  /** The annotation of a Revision whose pods have no queue-proxy: the path they answer when ready. */
  public static final String ANNOTATION = "activator.dev/readiness-path";

  private static final ProbeForm QUEUE_PROXY = new ProbeForm("/healthz", WhoAnswers.QUEUE_PROXY);

  /** Who is behind a pod's port. */
  public enum WhoAnswers {
    /** Knative's sidecar, which knows our probes from requests. */
    QUEUE_PROXY,
    /** The container itself. */
    CONTAINER
  }

  /** How the revision's pods are asked. */
  public static ProbeForm of(Revision revision) {
    var path = annotated(revision);
    return path == null || !isPath(path)
        ? QUEUE_PROXY
        : new ProbeForm(path, WhoAnswers.CONTAINER);
  }

  /** What its annotation says, right or wrong; null where there is none. */
  public static @Nullable String annotated(Revision revision) {
    return revision.annotations().get(ANNOTATION);
  }

  /** Whether a request can be sent for it as it is. */
  public static boolean isPath(String text) {
    return text.startsWith("/") && text.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#');
  }

  /** What an HTTP answer means. */
  public ProbeOutcome judge(int status, String body) {
    return switch (whoAnswers) {
      case QUEUE_PROXY -> ProbeOutcome.of(status, body);
      case CONTAINER -> ProbeOutcome.ofContainer(status);
    };
  }
}
