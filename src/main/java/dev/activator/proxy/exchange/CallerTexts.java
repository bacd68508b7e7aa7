package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.WaitStatus;
import dev.activator.revision.RevisionId;
import java.util.function.Function;

/**
 * What callers are told besides a failure's own words.
 *
 * @param startMessages whether callers read in full why a revision cannot start; such texts name
 *     registries, addresses and Secrets
 * @param status any thread may ask
 */
public record CallerTexts(boolean startMessages, Function<RevisionId, WaitStatus> status) {
  public static final CallerTexts NONE = new CallerTexts(false, _ -> WaitStatus.UNKNOWN);
}
