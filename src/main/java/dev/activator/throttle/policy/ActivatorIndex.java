package dev.activator.throttle.policy;

import java.util.Collections;
import java.util.List;

/**
 * The position of this activator among the sorted addresses of a revision's activators.
 *
 * <p><b>Source.</b> Knative's {@code inferIndex} and {@code handlePubEpsUpdate}.
 *
 * @param index −1 while unknown
 * @param activators the number of activators; 0 while unknown
 */
public record ActivatorIndex(int index, int activators) {
  public static final ActivatorIndex UNKNOWN = new ActivatorIndex(-1, 0);

  /**
   * The index among these addresses. It does not change if this activator's address is missing:
   * requests then bypass the activators, and queued requests keep their shares.
   *
   * @param addresses sorted as text, each once
   */
  public ActivatorIndex after(List<String> addresses, String own) {
    int position = Collections.binarySearch(addresses, own);
    return position < 0 ? this : new ActivatorIndex(position, addresses.size());
  }
}
