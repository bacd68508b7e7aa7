package dev.activator.ext.rules;

import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.ColdStartRules.ColdStartFallback;
import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives requests to a revision's {@link ColdStartFallback}: another service, or an answer.
 *
 * <p><b>Threads.</b> Any.
 */
public final class FallbackPolicy implements WaitPolicy {
  private static final Logger log = LoggerFactory.getLogger(FallbackPolicy.class);
  /** The Retry-After of a 503 when a start has failed. */
  private static final int START_RETRY_SECONDS = 30;

  private final Function<RevisionId, @Nullable RevisionId> named;
  private final LiveRevisions revisions;

  /** @param named the revision that a name stands for at the moment; null if there is none */
  public FallbackPolicy(Function<RevisionId, @Nullable RevisionId> named, LiveRevisions revisions) {
    this.named = named;
    this.revisions = revisions;
  }

  @Override
  public long afterNanos(Request request) {
    var fallback = of(request);
    return fallback == null ? DeadlineCalculator.NONE : fallback.after().toNanos();
  }

  @Override
  public Decision decide(Request request, StartStatus start, int retryAfterSeconds) {
    return end(request, retryAfterSeconds);
  }

  /** The start has failed, so the fallback applies at once. */
  @Override
  public Decision cannotStart(Request request) {
    return end(request, START_RETRY_SECONDS);
  }

  private static @Nullable ColdStartFallback of(Request request) {
    var rules = request.revision().rules();
    var fallback = rules == null ? null : rules.fallback();
    return fallback != null && fallback.service() != null && !request.mayRedirect()
        ? null
        : fallback;
  }

  private Decision end(Request request, int retryAfterSeconds) {
    var fallback = of(request);
    if (fallback == null) {
      return new Unchanged();
    }
    if (fallback.answer() != null) {
      return new Answer(answer(fallback.answer(), retryAfterSeconds), RequestOutcome.FALLBACK);
    }
    var other = fallback.service() == null ? null : other(request.revision(), fallback.service());
    if (other == null) {
      log.debug("{}: the fallback {} does not exist", request.revision().id(), fallback);
      return new Unchanged();
    }
    return new Redirect(other);
  }

  private static LocalResponse answer(ConfiguredResponse written, int retryAfterSeconds) {
    return LocalResponse.of(written).withRetryAfter(retryAfterSeconds)
        .with(RequestFailure.REASON, RequestOutcome.FALLBACK.toString());
  }

  /** The revision in the same namespace that a fallback names; null if there is none. */
  private @Nullable LiveRevision other(Revision from, String service) {
    var id = named.apply(new RevisionId(from.id().namespace(), service));
    return id == null || id.equals(from.id()) ? null : revisions.find(id);
  }
}
