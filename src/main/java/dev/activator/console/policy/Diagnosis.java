package dev.activator.console.policy;

import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;

/**
 * Why requests of a revision wait.
 *
 * @param state in a word
 * @param summary in a sentence
 * @param missing what would have to be otherwise, each in a line; empty where nothing is wrong
 */
public record Diagnosis(State state, String summary, List<String> missing) {
  public Diagnosis {
    missing = List.copyOf(missing);
  }

  /** That of a revision which does not exist, as far as was heard. */
  public static Diagnosis unknown(RevisionId revision) {
    return new Diagnosis(State.UNKNOWN, "There is no revision " + revision + ".",
        List.of("a Revision of this name, in this namespace"));
  }

  /** The first thing that keeps requests from running, in the order in which they depend. */
  public static Diagnosis of(Situation now) {
    var cause = Cause.of(now);
    var missing = new ArrayList<>(cause.missing());
    if (!now.signals().staleness().isEmpty() && now.signals().synced()) {
      missing.add("news from the Kubernetes API: " + String.join("; ", now.signals().staleness()));
    }
    return new Diagnosis(cause.state(), head(now) + cause.text() + tail(now, cause), missing);
  }

  private static String head(Situation now) {
    int queued = now.demand().queued();
    if (queued == 0) {
      return "No request waits for " + now.revision() + ": ";
    }
    return (queued == 1 ? "1 request waits" : queued + " requests wait") + " for " + now.revision()
        + ": ";
  }

  private static String tail(Situation now, Cause cause) {
    var tail = new StringBuilder();
    if (now.demand().queued() > 0 && now.room().capacity() == 0) {
      var link = now.signals().autoscaler();
      tail.append("; the autoscaler link is ").append(link == null ? "up" : "down (" + link + ")");
    }
    var asked = now.start().asked();
    if (asked != null && now.demand().queued() > 0) {
      tail.append("; first asked ").append(Words.of(asked)).append(" ago");
      if (now.start().usual().isPositive()) {
        tail.append(", a start usually takes ").append(Words.of(now.start().usual()));
      }
    } else if (now.demand().queued() > 0) {
      tail.append("; the first has waited ").append(Words.of(now.demand().oldestWait()));
    }
    if (cause.state() != State.QUEUE_FULL && isFull(now)) {
      tail.append("; the queue is full, newcomers are refused");
    }
    return tail.append('.').toString();
  }

  static boolean isFull(Situation now) {
    return now.demand().queued() > 0 && now.demand().queued() >= now.demand().queueCapacity();
  }
}
