package dev.activator.app;

import dev.activator.platform.Platform;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.info.InfoContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.info.InfoEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.sbom.SbomEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.info.ProjectInfoAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindingPostProcessor;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.http.codec.autoconfigure.CodecsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.prometheus.PrometheusMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.jvm.JvmMetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.logging.logback.LogbackMetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.startup.StartupTimeMetricsListenerAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.system.SystemMetricsAutoConfiguration;
import org.springframework.boot.reactor.autoconfigure.ReactorAutoConfiguration;
import org.springframework.boot.reactor.netty.autoconfigure.NettyReactiveWebServerAutoConfiguration;
import org.springframework.boot.reactor.netty.autoconfigure.actuate.web.server.NettyReactiveManagementContextAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.actuate.endpoint.web.WebFluxHealthEndpointExtensionAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ContextAnnotationAutowireCandidateResolver;
import org.springframework.context.annotation.Import;

/**
 * The beans that all modes share; each mode adds its {@link Platform}. The configurations of Spring
 * Boot are listed one by one, because evaluating the conditions of all of them would take a large
 * part of a start.
 */
@Configuration(proxyBeanMethods = false)
@ConfigurationPropertiesScan("dev.activator.settings")
@Import({ConfigMapSettingsConfiguration.class, ThrottlerConfiguration.class,
    RequestConfiguration.class,
    ObservabilityConfiguration.class, ManagementServersConfiguration.class,
    LifecycleConfiguration.class, Wiring.class})
// Properties and shutdown.
@ImportAutoConfiguration({ConfigurationPropertiesAutoConfiguration.class,
    PropertyPlaceholderAutoConfiguration.class, LifecycleAutoConfiguration.class,
    // The web server and JSON.
    ReactorAutoConfiguration.class, SslAutoConfiguration.class,
    NettyReactiveWebServerAutoConfiguration.class, WebFluxAutoConfiguration.class,
    ErrorWebFluxAutoConfiguration.class,
    CodecsAutoConfiguration.class,
    // The web server's endpoints.
    EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
    JacksonEndpointAutoConfiguration.class, ManagementContextAutoConfiguration.class,
    NettyReactiveManagementContextAutoConfiguration.class, InfoContributorAutoConfiguration.class,
    InfoEndpointAutoConfiguration.class, ProjectInfoAutoConfiguration.class,
    SbomEndpointAutoConfiguration.class,
    // Health.
    ApplicationAvailabilityAutoConfiguration.class, AvailabilityProbesAutoConfiguration.class,
    AvailabilityHealthContributorAutoConfiguration.class,
    HealthContributorRegistryAutoConfiguration.class, HealthContributorAutoConfiguration.class,
    HealthEndpointAutoConfiguration.class, WebFluxHealthEndpointExtensionAutoConfiguration.class,
    // Metrics.
    MetricsAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class,
    PrometheusMetricsExportAutoConfiguration.class, JvmMetricsAutoConfiguration.class,
    SystemMetricsAutoConfiguration.class, LogbackMetricsAutoConfiguration.class,
    StartupTimeMetricsListenerAutoConfiguration.class})
public class ActivatorConfiguration {
  /**
   * Binds the settings of Boot's beans that differ from their defaults. Boot's own processor searches the annotations of
   * each bean, and binds all, which takes a tenth of a start. The name of a bean of settings is its prefix and its class.
   */
  static final class SettingsThatAreSet extends ConfigurationPropertiesBindingPostProcessor {
    private Iterable<ConfigurationPropertySource> sources = List.of();

    @Override
    public void setApplicationContext(ApplicationContext context) {
      super.setApplicationContext(context);
      sources = ConfigurationPropertySources.get(context.getEnvironment());
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
      var end = "-" + bean.getClass().getName();
      return name.endsWith(end) && isSet(name.substring(0, name.length() - end.length()))
          ? super.postProcessBeforeInitialization(bean, name)
          : bean;
    }

    private boolean isSet(String prefix) {
      var name = ConfigurationPropertyName.of(prefix);
      for (var source : sources) {
        if (source.containsDescendantOf(name) != ConfigurationPropertyState.ABSENT) {
          return true;
        }
      }
      return false;
    }
  }

  @Bean("org.springframework.boot.context.properties.ConfigurationPropertiesBindingPostProcessor")
  static SettingsThatAreSet settingsOfBoot() {
    return new SettingsThatAreSet();
  }

  /** Spares Spring the search for {@code @Value} at each parameter: there is none. */
  @Bean
  static BeanFactoryPostProcessor withoutValues() {
    return beans -> ((DefaultListableBeanFactory) beans)
        .setAutowireCandidateResolver(new ContextAnnotationAutowireCandidateResolver() {
          @Override
          public @Nullable Object getSuggestedValue(DependencyDescriptor parameter) {
            return null;
          }
        });
  }
}
