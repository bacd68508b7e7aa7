package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides about a request before it is counted or queued.
 *
 * <p><b>Threads.</b> Any loop; must not block.
 *
 * <p><b>Errors.</b> An exception is answered like a failed look-up of the revision.
 *
 * <p><b>Source.</b> {@code decodeHeaders} of Envoy's {@code StreamDecoderFilter}.
 */
@FunctionalInterface
public interface Arrival {
  Arrival NONE = (_, _, _, _) -> null;

  /**
   * The answer of a request that must not wait, and is neither queued nor counted.
   *
   * @param always whether the request gets it even if a pod could take the request now
   */
  record Instead(LocalResponse answer, RequestOutcome outcome, boolean always) {}

  /**
   * Returns null if the request may wait as usual.
   *
   * @param path path and query
   */
  @Nullable Instead of(Revision revision, String method, String path, HeaderFieldList fields);

  /** Whether a probe of a kubelet to a revision's host, for which {@link #of} has an answer, is for that revision. */
  default boolean takesKubeletProbes() {
    return false;
  }

  /**
   * Answers a probe of the network whose kind the router does not know; null if this does not know
   * it either.
   *
   * @param kind the value of {@code K-Network-Probe}
   * @param on of the loop that this is called on
   */
  default @Nullable LocalResponse probe(String kind, LiveRevision revision, RequestDispatcher on) {
    return null;
  }

  /** All of these as one; the first that decides wins. */
  static Arrival first(List<Arrival> all) {
    return all.isEmpty() ? NONE : new Arrival() {
      @Override
      public @Nullable Instead of(Revision revision, String method, String path,
          HeaderFieldList fields) {
        for (var one : all) {
          var instead = one.of(revision, method, path, fields);
          if (instead != null) {
            return instead;
          }
        }
        return null;
      }

      @Override
      public boolean takesKubeletProbes() {
        return all.stream().anyMatch(Arrival::takesKubeletProbes);
      }

      @Override
      public @Nullable LocalResponse probe(String kind, LiveRevision revision,
          RequestDispatcher on) {
        return all.stream().flatMap(one -> Stream.ofNullable(one.probe(kind, revision, on)))
            .findFirst().orElse(null);
      }
    };
  }
}
