package dev.activator.ext.tcp;

import dev.activator.knative.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.ProxyServer;
import dev.activator.revision.LiveRevisions;
import dev.activator.settings.ProxyServerProperties;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Connections that are not HTTP, to the TCP ports of ScaledServices. */
@Configuration(proxyBeanMethods = false)
public class TcpConfiguration {
  private static final String NAME = "tcp";

  @Bean
  Extension tcp(ProxyServer proxy, ProxyServerProperties serving, LoopGroup loops,
      LiveRevisions revisions, ClusterWatcher cluster) {
    var ports = new TcpPorts(proxy, serving.bindAddress(), loops.loopFor(NAME), revisions);
    return new Extension() {
      @Override
      public String name() {
        return NAME;
      }

      @Override
      public void attach() {
        cluster.revisions().subscribe(NAME, ports::onRevision);
      }

      @Override
      public List<LifecyclePart> parts(StartOrder when) {
        return when == StartOrder.BEFORE_REQUESTS
            ? List.of(LifecyclePart.started("TCP ports", ports::start))
            : List.of();
      }
    };
  }
}
