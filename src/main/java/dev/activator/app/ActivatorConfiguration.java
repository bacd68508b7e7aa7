package dev.activator.app;

import dev.activator.platform.Platform;
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
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindingPostProcessor;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
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
   * Binds the settings of Boot's beans. It reads the annotation only of classes, because no
   * factory method here has it. Boot's own processor searches all annotations of each bean and of its
   * factory method, which takes a twentieth of a start.
   */
  static final class AnnotatedClassesOnly extends ConfigurationPropertiesBindingPostProcessor {
    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
      return bean.getClass().isAnnotationPresent(ConfigurationProperties.class)
          ? super.postProcessBeforeInitialization(bean, name)
          : bean;
    }
  }

  @Bean("org.springframework.boot.context.properties.ConfigurationPropertiesBindingPostProcessor")
  static AnnotatedClassesOnly settingsOfBoot() {
    return new AnnotatedClassesOnly();
  }
}
