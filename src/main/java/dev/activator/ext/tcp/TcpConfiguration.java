package dev.activator.ext.tcp;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.LogLimit;
import dev.activator.loop.LoopGroup;
import dev.activator.platform.Platform;
import dev.activator.proxy.ProxyServer;
import dev.activator.revision.LiveRevisions;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.settings.StandaloneProperties;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Connections that are not HTTP, to the TCP ports of ScaledServices. */
@Configuration(proxyBeanMethods = false)
public class TcpConfiguration {
  private static final Logger log = LoggerFactory.getLogger(TcpConfiguration.class);
  private static final String NAME = "tcp";
  /** For a PROXY header, and for a TLS hello. */
  private static final Duration FIRST_MESSAGE_TIMEOUT = Duration.ofSeconds(10);

  @Bean
  Extension tcp(ProxyServer proxy, ProxyServerProperties serving,
      StandaloneProperties standalone, LoopGroup loops, LiveRevisions revisions,
      ClusterWatcher cluster, RevisionBackendsManager backends, Platform platform) {
    var routes = new SniRoutes(revisions, loops.loopFor(NAME));
    var headers = new ProxyHeaders(standalone.proxyProtocolSources(), FIRST_MESSAGE_TIMEOUT);
    var ports = new TcpPorts(proxy, serving.bindAddress(), loops.loopFor(NAME), revisions, headers,
        platform::portTaken);
    var probes = new FailedPortProbes(loops.loopFor(NAME), revisions, backends::view,
        platform::portProbeFails);
    return Extension.of(NAME, () -> cluster.revisions().subscribe(NAME, revision -> {
      ports.onRevision(revision);
      routes.onRevision(revision);
    })).with(StartOrder.BEFORE_REQUESTS, LifecyclePart.started("TCP ports", () -> {
      ports.start();
      probes.start();
      if (standalone.sniPort() > 0) {
        listen(proxy, serving.bindAddress(), standalone.sniPort(), routes, headers);
      }
    }));
  }

  /** @throws IOException naming the setting of the port */
  private static void listen(ProxyServer proxy, String address, int port, SniRoutes routes,
      ProxyHeaders headers) throws IOException, InterruptedException {
    var refusals = new LogLimit();
    try {
      proxy.listenFor(address, port, (client, dispatcher) -> headers.accept(client, dispatcher,
          refusals, false, addresses -> client.pipeline().addLast(new SniRouter(client, addresses,
              dispatcher, routes, refusals, FIRST_MESSAGE_TIMEOUT))))
          .get();
    } catch (ExecutionException e) {
      throw new IOException("activator.standalone.sni-port is " + port + ", but cannot listen on "
          + address + ":" + port + ": " + e.getMessage(), e);
    }
    log.info("Listening for TLS connections by server name on {}:{}", address, port);
  }
}
