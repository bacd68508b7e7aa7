package dev.activator.app.properties;

import dev.activator.config.CidrRanges;
import dev.activator.config.SettingPreconditions;
import dev.activator.waking.CallChains;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings by which callees start together with their caller, and by which the caller is
 * recognised.
 *
 * @param chains whether revisions start that the started one was seen to call: {@code off}, {@code observe}
 *     (what it would save is counted) or {@code on}
 * @param trustedHops addresses and networks of proxies, such as an ingress gateway, whose last entry in
 *     {@code X-Forwarded-For} says which pod called; of others, only the address of the connection counts
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
