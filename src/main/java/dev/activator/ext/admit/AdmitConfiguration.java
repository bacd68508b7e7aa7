package dev.activator.ext.admit;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.ProxyServer;
import dev.activator.revision.LiveRevisions;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/**
 * The beans of the port for gateways that send requests themselves. Disabled by default; the setting
 * is {@code activator.admit.enabled}.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(GatewayAdmitProperties.class)
public class AdmitConfiguration {
  private static final String NAME = "admit";
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);

  @Bean
  Extension admit(GatewayAdmitProperties admit, ProxyServer proxy, LoopResources resources,
      LoopGroup loops, ActivatorHealth health, Throttler throttler, ClusterWatcher cluster,
      LiveRevisions revisions, ProxyServerProperties serving) {
    if (!admit.enabled()) {
      return Extension.of(NAME);
    }
    var pods = new RevisionReadySince(revisions, admit.endpointsDelay(),
        loops.loopFor(NAME)::nanoTime);
    var server = new GatewayAdmitServer(proxy,
        new GatewayAdmitServer.Settings(serving.bindAddress(), admit.port(),
            admit.requestDuration(), HEAD_TIMEOUT),
        pods, revisions, resources, () -> health.readiness() instanceof Readiness.Ready,
        throttler::rejectQueued);
    return Extension.of(NAME, () -> {
      cluster.pods().subscribe(NAME, pods::listed);
      cluster.podsGone().subscribe(NAME, last -> pods.podsGone(last.revision()));
    }).with(StartOrder.BEFORE_REQUESTS,
        new LifecyclePart("port for gateways", server::start, server::stop));
  }
}
