package dev.activator.app;

import dev.activator.app.properties.ServingProperties.PortProperties;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.annotation.Import;

/** What both modes are made of; what is around them is each mode's own. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@BootParts
@ConfigurationPropertiesScan(basePackageClasses = PortProperties.class)
@Import({LoopConfiguration.class, ObservabilityConfiguration.class, SettingsConfiguration.class,
    TlsConfiguration.class, ClusterConfiguration.class, BackendConfiguration.class,
    ThrottleConfiguration.class, StatsConfiguration.class, ProxyConfiguration.class,
    ConsoleConfiguration.class, ProfilingConfiguration.class, MetricsServerConfiguration.class,
    LifecycleConfiguration.class})
public @interface ActivatorParts {
}
