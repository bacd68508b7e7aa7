package dev.activator.ext.requestlog;

import dev.activator.config.ConfigMapSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.RequestObservers;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Attaches the request log, while {@code config-observability} enables it. */
@Configuration(proxyBeanMethods = false)
public class RequestLogConfiguration {
  @Bean
  Extension requestlog(RequestObservers observers, AsyncLineWriter out,
      ConfigMapSettings<ObservabilityConfig> settings) {
    var requestLog = new RequestLog(observers, out);
    return Extension.of("requestlog").with(StartOrder.BEFORE_REQUESTS, LifecyclePart
        .started("request log", () -> settings.follow(now -> requestLog.use(now.requestLog()))));
  }
}
