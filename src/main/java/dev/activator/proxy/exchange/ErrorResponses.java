package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.WaitingPagePolicy;
import dev.activator.proxy.policy.WaitStatus;

/**
 * What responses of the activator itself contain: messages of failed starts, and waiting pages.
 *
 * @param startMessages whether callers read in full why a revision cannot start; such texts name
 *     registries, addresses and Secrets
 */
public record ErrorResponses(boolean startMessages, WaitingPages pages) {
  public static final ErrorResponses NONE = new ErrorResponses(false,
      new WaitingPages(WaitingPagePolicy.Mode.OFF, () -> WaitingPageTemplate.DEFAULT,
          _ -> WaitStatus.UNKNOWN, (_, _) -> {
          }));
}
