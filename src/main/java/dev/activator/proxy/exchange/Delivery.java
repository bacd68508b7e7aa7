package dev.activator.proxy.exchange;

import dev.activator.throttle.ThrottleDecision.Permit;

/**
 * Delivers requests that have a permit in another way than {@link Forwarder}, which sends them to
 * the pod. It ends the exchange by one of its methods: {@link Exchange#endUncounted}, {@link
 * Exchange#answerInstead}, {@link Exchange#rejected} or {@link Exchange#fail}; or, after
 * {@link Exchange#delivered}, by the end of the response or {@link Exchange#callerGone}.
 *
 * <p><b>Threads.</b> Confined to the loop.
 *
 * <p><b>Source.</b> Envoy's router filter, the last of each chain.
 */
public interface Delivery {
  /** @param permit released by this */
  void deliver(Exchange exchange, Permit permit);

  /** The exchange has ended, for whatever reason, delivered or not. */
  void ended(Exchange exchange);
}
