package dev.activator.ext.actuators;

import dev.activator.config.ConfigValue;
import dev.activator.ext.actuators.policy.PatchTarget;
import dev.activator.http.UrlCaller;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.lifecycle.Extension;
import dev.activator.platform.Platform;
import dev.activator.platform.WakeMethod;
import dev.activator.revision.ScaleClient;
import java.time.Clock;
import java.time.Duration;
import okhttp3.Dns;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Starts and stops of what has no scale. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ActuatorsProperties.class)
public class ActuatorsConfiguration {
  private static final String NAME = "actuators";
  /** As for a scale: a later leader may write afterwards. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  @Bean
  Extension actuators(Platform platform, ActuatorsProperties settings) {
    return Extension.of(NAME, () -> {
      platform.wakeMethod(new Patch(settings));
      platform.wakeMethod(new Http(settings));
    });
  }

  private record Patch(ActuatorsProperties settings) implements WakeMethod<PatchTarget> {
    @Override
    public String field() {
      return "patch";
    }

    @Override
    public Class<PatchTarget> type() {
      return PatchTarget.class;
    }

    @Override
    public PatchTarget read(ConfigValue spec) {
      return PatchTarget.read(spec);
    }

    @Override
    public @Nullable ReadyCondition readyCondition(PatchTarget target) {
      var type = target.readyCondition();
      return type == null ? null : new ReadyCondition(target.object(), type);
    }

    @Override
    public @Nullable String refusal(Served.Here kind) {
      return PatchClient.refusal(settings.patch(), kind);
    }

    @Override
    public ScaleClient<PatchTarget> client(Supplier<KubernetesApiClient> api) {
      return new PatchClient(api, TIMEOUT, settings.patch());
    }
  }

  private record Http(ActuatorsProperties settings) implements WakeMethod<HttpTarget> {
    @Override
    public String field() {
      return "http";
    }

    @Override
    public Class<HttpTarget> type() {
      return HttpTarget.class;
    }

    @Override
    public HttpTarget read(ConfigValue spec) {
      return HttpTarget.read(spec);
    }

    /** A URL says nothing about pods, which are probed. */
    @Override
    public @Nullable ReadyCondition readyCondition(HttpTarget target) {
      return null;
    }

    @Override
    public ScaleClient<HttpTarget> client(Supplier<KubernetesApiClient> api) {
      return new UrlClient(api, TIMEOUT, settings.prefixes(),
          new UrlCaller(Dns.SYSTEM, new AddressCheck(() -> api.get().url(), Dns.SYSTEM),
              Duration.ZERO),
          Clock.systemUTC());
    }
  }
}
