package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.WaitingPagePolicy;
import dev.activator.proxy.policy.WaitingPageStatus;

/**
 * Options of the activator's own responses: whether they contain the text of a failed start, and
 * the waiting pages.
 *
 * @param startMessages whether callers get the full text of why a revision cannot start; such texts
 *     name registries, addresses and Secrets
 */
public record ErrorResponseOptions(boolean startMessages, WaitingPages pages) {
  public static final ErrorResponseOptions NONE = new ErrorResponseOptions(false,
      new WaitingPages(WaitingPagePolicy.Mode.OFF, () -> WaitingPageTemplate.DEFAULT,
          _ -> WaitingPageStatus.UNKNOWN, (_, _) -> _ -> {
          }));
}
