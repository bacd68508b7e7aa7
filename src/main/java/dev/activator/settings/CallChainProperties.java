package dev.activator.settings;

import dev.activator.config.CidrRanges;
import dev.activator.config.SettingPreconditions;
import dev.activator.waking.CallChains;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for starting callees together with their caller, and for recognising the caller.
 *
 * @param chains whether revisions that a started revision is known to call are started with it:
 *     {@code off}, {@code observe} (only counts what this would save) or {@code on}
 * @param trustedHops addresses and networks of proxies, such as an ingress gateway, whose last
 *     entry in {@code X-Forwarded-For} is trusted as the address of the calling pod; for all other
 *     callers, the address of the connection is used
 */
@ConfigurationProperties("activator.waking")
public record CallChainProperties(@DefaultValue("observe") CallChains.Mode chains,
    @DefaultValue List<String> trustedHops) {

  public CallChainProperties {
    trustedHops = List.copyOf(trustedHops);
    try {
      CidrRanges.of(trustedHops);
    } catch (IllegalArgumentException e) {
      SettingPreconditions.check(false, "activator.waking.trusted-hops", trustedHops,
          Objects.requireNonNull(e.getMessage()));
    }
  }

  public CidrRanges hops() {
    return CidrRanges.of(trustedHops);
  }
}
