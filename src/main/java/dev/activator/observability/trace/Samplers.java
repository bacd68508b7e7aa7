package dev.activator.observability.trace;

import dev.activator.config.OtelVariables;
import dev.activator.config.TracingConfig;
import io.opentelemetry.sdk.trace.samplers.Sampler;

/**
 * Which requests are traced.
 *
 * <p>
 * <b>Source.</b> {@code observability/tracing} of {@code knative.dev/pkg}, but that the variables of
 * OpenTelemetry count as it defines them.
 */
public final class Samplers {
  private Samplers() {}

  public static Sampler of(TracingConfig config, OtelVariables otel) {
    return otel.sampler().isEmpty() ? of(config, rate(config, otel)) : named(config, otel);
  }

  private static double rate(TracingConfig config, OtelVariables otel) {
    return otel.samplerArgument().isEmpty()
        ? config.samplingRate()
        : Double.parseDouble(otel.samplerArgument());
  }

  private static Sampler of(TracingConfig config, double rate) {
    if (config.protocol() == TracingConfig.Protocol.STDOUT || rate >= 1) {
      return Sampler.alwaysOn();
    }
    return rate <= 0 ? Sampler.alwaysOff() : Sampler.parentBased(Sampler.traceIdRatioBased(rate));
  }

  private static Sampler named(TracingConfig config, OtelVariables otel) {
    return switch (otel.sampler()) {
      case "always_on" -> Sampler.alwaysOn();
      case "always_off" -> Sampler.alwaysOff();
      case "parentbased_always_on" -> Sampler.parentBased(Sampler.alwaysOn());
      case "parentbased_always_off" -> Sampler.parentBased(Sampler.alwaysOff());
      case "traceidratio" -> Sampler.traceIdRatioBased(rate(config, otel));
      default -> Sampler.parentBased(Sampler.traceIdRatioBased(rate(config, otel)));
    };
  }
}
