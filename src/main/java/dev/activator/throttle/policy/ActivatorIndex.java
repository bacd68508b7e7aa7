package dev.activator.throttle.policy;

import java.util.Collections;
import java.util.List;

/**
 * Which of a revision's activators this one is.
 *
 * <p>
 * <b>Source.</b> {@code inferIndex} and {@code handlePubEpsUpdate} in Knative Serving's {@code
 * throttler.go}.
 *
 * @param index its position among the activators' addresses, sorted as text; −1 while unknown
 * @param activators how many there are; 0 while unknown
 */
public record ActivatorIndex(int index, int activators) {
  public static final ActivatorIndex UNKNOWN = new ActivatorIndex(-1, 0);

  /**
   * The index once these addresses are in the public Endpoints. Unchanged while the own address is not
   * among them: requests then bypass the activators, and queued ones keep the old shares.
   *
   * @param addresses sorted as text, each once
   */
  public ActivatorIndex after(List<String> addresses, String own) {
    int position = Collections.binarySearch(addresses, own);
    return position < 0 ? this : new ActivatorIndex(position, addresses.size());
  }
}
