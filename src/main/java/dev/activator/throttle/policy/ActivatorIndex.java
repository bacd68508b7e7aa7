package dev.activator.throttle.policy;

import java.util.Collections;
import java.util.List;

/**
 * The position of this activator among those of a revision, by sorted address.
 *
 * <p><b>Source.</b> Knative's {@code inferIndex} and {@code handlePubEpsUpdate}.
 *
 * @param index among the sorted addresses; −1 while unknown
 * @param activators 0 while unknown
 */
public record ActivatorIndex(int index, int activators) {
  public static final ActivatorIndex UNKNOWN = new ActivatorIndex(-1, 0);

  /**
   * The index among these addresses. It is unchanged if this activator's address is missing:
   * requests then bypass the activators, and queued ones keep their shares.
   *
   * @param addresses sorted as text, each once
   */
  public ActivatorIndex after(List<String> addresses, String own) {
    int position = Collections.binarySearch(addresses, own);
    return position < 0 ? this : new ActivatorIndex(position, addresses.size());
  }
}
