package dev.activator.embedded.runtime.policy;

import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/**
 * The revisions that share the requests to a host.
 *
 * <p><b>Threads.</b> Any.
 */
public record TrafficSplit(List<Part> parts) {
  /** @param end the sum of the percentages up to this part */
  public record Part(RevisionId revision, int end) {}

  public static TrafficSplit all(RevisionId revision) {
    return new TrafficSplit(List.of(new Part(revision, 100)));
  }

  /** @param percentages the percentages by revision; none is 0 */
  public static TrafficSplit of(String namespace, Map<String, Integer> percentages) {
    var parts = new ArrayList<Part>();
    int end = 0;
    for (var share : percentages.entrySet()) {
      end += share.getValue();
      parts.add(new Part(new RevisionId(namespace, share.getKey()), end));
    }
    return new TrafficSplit(List.copyOf(parts));
  }

  /** @param draw returns a number from 0 to less than its argument */
  public RevisionId choose(IntUnaryOperator draw) {
    if (parts.size() > 1) {
      int drawn = draw.applyAsInt(parts.getLast().end());
      for (var part : parts) {
        if (drawn < part.end()) {
          return part.revision();
        }
      }
    }
    return parts.getLast().revision();
  }
}
