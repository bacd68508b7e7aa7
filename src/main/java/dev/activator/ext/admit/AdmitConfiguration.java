package dev.activator.ext.admit;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.ProxyServer;
import dev.activator.revision.LiveRevisions;
import dev.activator.settings.ProxyServerProperties;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.function.Function;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The port for gateways that send requests themselves, after a question. Disabled by default; the
 * setting is {@code activator.admit.enabled}.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(GatewayAdmitProperties.class)
public class AdmitConfiguration {
  private static final String NAME = "admit";
  private static final Duration QUESTION_TIMEOUT = Duration.ofSeconds(60);

  @Bean
  Extension admit(GatewayAdmitProperties admit, ProxyServer proxy, LoopGroup loops,
      ClusterWatcher cluster, LiveRevisions revisions, ProxyServerProperties serving) {
    if (!admit.enabled()) {
      return Extension.of(NAME);
    }
    var pods = new RevisionReadySince(revisions, admit.endpointsDelay(),
        loops.loopFor(NAME)::nanoTime);
    var handovers = new ArrayList<GatewayHandover>();
    return Extension.of(NAME, () -> {
      cluster.pods().subscribe(NAME, pods::listed);
      cluster.podsGone().subscribe(NAME, last -> pods.podsGone(last.revision()));
    }).with(StartOrder.BEFORE_REQUESTS, LifecyclePart.started("port for gateways",
        () -> listen(proxy, serving.bindAddress(), admit.port(), loop -> {
          handovers.add(new GatewayHandover(loop, pods, revisions, admit.requestDuration(),
              QUESTION_TIMEOUT));
          return handovers.getLast();
        })))
        // Stops before the ports for requests, which drain this one, too.
        .with(StartOrder.AFTER_REQUESTS, LifecyclePart.stopped("requests for gateways",
            () -> handovers.forEach(each -> each.stopAfter(serving.propagationDelay()))));
  }

  /**
   * Returns the port; a free one if {@code port} is 0.
   *
   * @throws IOException naming the property of a taken port
   */
  static int listen(ProxyServer proxy, String address, int port,
      Function<Loop, GatewayHandover> handovers) throws IOException {
    try {
      return proxy.listenAs("questions of gateways", address, port,
          usual -> usual.with(handovers.apply(usual.loop())));
    } catch (IOException e) {
      throw new IOException("activator.admit.port is " + port + ", but " + e.getMessage(), e);
    }
  }
}
