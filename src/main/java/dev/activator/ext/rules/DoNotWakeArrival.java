package dev.activator.ext.rules;

import dev.activator.http.HeaderFieldList;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.Revision;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests that must not wake their revision, unless a pod has room for them.
 *
 * <p><b>Threads.</b> Any.
 */
public final class DoNotWakeArrival implements Arrival {
  private final List<DoNotWakeRule> all;

  /** @param all the rules for all revisions; they apply after those of the request's revision */
  public DoNotWakeArrival(List<DoNotWakeRule> all) {
    this.all = List.copyOf(all);
  }

  @Override
  public @Nullable Instead of(Revision revision, String method, String path,
      HeaderFieldList fields) {
    var own = revision.rules();
    return own == null && all.isEmpty()
        ? null
        : Stream.concat(own == null ? Stream.of() : own.doNotWake().stream(), all.stream())
            .filter(rule -> rule.matches(method, path, fields::getAll)).findFirst()
            .map(DoNotWakeArrival::instead).orElse(null);
  }

  private static Instead instead(DoNotWakeRule rule) {
    return new Instead(LocalResponse.of(rule.answer())
        .with(RequestFailure.REASON, RequestOutcome.NOT_WOKEN.toString()),
        RequestOutcome.NOT_WOKEN, rule.always());
  }

  /** If there are rules for all revisions, those for kubelets are among them. */
  @Override
  public boolean takesKubeletProbes() {
    return !all.isEmpty();
  }
}
