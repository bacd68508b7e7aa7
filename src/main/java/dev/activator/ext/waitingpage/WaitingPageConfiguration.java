package dev.activator.ext.waitingpage;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.settings.ClusterProperties.ConfigMapProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The beans of waiting pages. The settings are {@code activator.serving.waiting-page} and the
 * ConfigMap {@code config-waiting-page}.
 */
@Configuration(proxyBeanMethods = false)
public class WaitingPageConfiguration {
  private static final Logger log = LoggerFactory.getLogger(WaitingPageConfiguration.class);
  private static final String NAME = "waitingpage";
  private static final String PAGE_KEY = "page.html";

  @Bean
  WaitingPages waitingPages(ProxyServerProperties serving, ClusterWatcher cluster,
      IdentityProperties identity, ConfigMapProperties names) {
    var template = new AtomicReference<>(WaitingPageTemplate.DEFAULT);
    cluster.onOptionalConfigMap(identity.systemNamespace(), names.waitingPage(), data -> {
      try {
        var own = data.get(PAGE_KEY);
        template.set(own == null ? WaitingPageTemplate.DEFAULT : WaitingPageTemplate.of(own));
      } catch (IllegalArgumentException e) {
        log.warn("The ConfigMap {}: {} {}; the previous page stays in use", names.waitingPage(),
            PAGE_KEY, e.getMessage());
      }
    });
    return new WaitingPages(serving.waitingPage(), template::get);
  }

  @Bean
  Extension waitingPage() {
    return Extension.of(NAME);
  }
}
