package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.WaitStatus;
import dev.activator.proxy.policy.WaitingPage;

/**
 * What callers are told besides a failure's own words.
 *
 * @param startMessages whether callers read in full why a revision cannot start; such texts name
 *     registries, addresses and Secrets
 */
public record CallerTexts(boolean startMessages, WaitingPages pages) {
  public static final CallerTexts NONE = new CallerTexts(false,
      new WaitingPages(WaitingPage.Mode.OFF, () -> WaitingPageTemplate.DEFAULT,
          _ -> WaitStatus.UNKNOWN, (_, _) -> {
          }));
}
