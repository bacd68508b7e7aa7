package dev.activator.app;

import dev.activator.app.properties.ServingProperties;
import dev.activator.app.properties.ServingProperties.PortProperties;
import dev.activator.app.properties.TlsProperties;
import dev.activator.lifecycle.HealthState;
import dev.activator.loop.Loop;
import dev.activator.proxy.ProxyServer;
import dev.activator.throttle.Throttler;
import dev.activator.tls.CertificateFiles;
import dev.activator.tls.ServerCertificate;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opened last, closed first.
 *
 * <p><b>Threads.</b> Any may ask for the port.
 */
final class RequestPorts {
  /** How long the answers to requests that still wait may take to be sent. */
  private static final Duration REJECTED_WITHIN = Duration.ofSeconds(5);
  private static final Logger log = LoggerFactory.getLogger(RequestPorts.class);

  private final ProxyServer server;
  private final PortProperties ports;
  private final TlsProperties tls;
  private final InternalTls system;
  private final ServingProperties serving;
  private final HealthState health;
  private final Loop loop;
  private final Throttler throttler;
  private @Nullable CertificateFiles files;
  private volatile int http1;

  /** @param system has the certificate to use where no files are named */
  RequestPorts(ProxyServer server, PortProperties ports, TlsProperties tls, InternalTls system,
      ServingProperties serving, HealthState health, Loop loop, Throttler throttler) {
    this.server = server;
    this.ports = ports;
    this.tls = tls;
    this.system = system;
    this.serving = serving;
    this.health = health;
    this.loop = loop;
    this.throttler = throttler;
  }

  /** @throws IOException naming the property of a taken port */
  void check() throws IOException {
    check("activator.port.http1", ports.http1());
    check("activator.port.h2c", ports.h2c());
    if (tls.certificate() != null) {
      check("activator.port.https", ports.https());
    }
  }

  private void check(String property, int port) throws IOException {
    try (var socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(serving.bindAddress(), port));
    } catch (IOException taken) {
      throw new IOException(property + " is " + port + ", but cannot listen on "
          + serving.bindAddress() + ":" + port + ": " + taken.getMessage(), taken);
    }
  }

  /** The port that the kubelet probes is the last: all are open when it answers. */
  void open() throws IOException {
    try {
      server.listen(serving.bindAddress(), ports.h2c());
      openTls();
      http1 = server.listen(serving.bindAddress(), ports.http1());
    } catch (IOException taken) {
      server.close();
      throw taken;
    }
  }

  private void openTls() throws IOException {
    var shown = certificate();
    if (shown != null) {
      server.listen(serving.bindAddress(), ports.https(), shown);
    }
  }

  private @Nullable ServerCertificate certificate() throws IOException {
    var chain = tls.certificate();
    var key = tls.key();
    if (chain == null || key == null) {
      return system.certificate();
    }
    files = CertificateFiles.read(chain, key, tls.server());
    files.watch();
    return files.certificate();
  }

  /** Whether the port that the kubelet asks was opened. */
  boolean isOpen() {
    return http1 > 0;
  }

  int http1() {
    return http1;
  }

  /**
   * Becomes unready, waits for load balancers to notice and for running requests to end, and
   * closes. In the second half of the first wait, callers are asked to close their connections: a
   * request sent while we close would be lost.
   */
  void drain() {
    health.draining();
    log.info("Draining: no longer ready, and open for another {} s",
        serving.propagationDelay().toSeconds());
    var drained = new CompletableFuture<Void>();
    loop.schedule(serving.propagationDelay().dividedBy(2), server::announceDrain);
    loop.schedule(serving.propagationDelay(),
        () -> server.drain().thenRun(() -> drained.complete(null)));
    try {
      var timeout = serving.propagationDelay().plus(serving.drainTimeout());
      drained.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      log.warn("After {} s these requests are left: {}", serving.drainTimeout().toSeconds(),
          unfinished());
      rejectQueued(drained);
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
    server.close();
    if (files != null) {
      files.close();
    }
  }

  private String unfinished() {
    var left = throttler.views().stream()
        .filter(view -> view.queued() + view.inFlight() > 0)
        .map(view -> view.revision() + ": " + view.queued() + " waited (answered with 503), "
            + view.inFlight() + " ran (cut off)")
        .toList();
    return left.isEmpty() ? "none of a revision" : String.join("; ", left);
  }

  /** Those that wait get an answer; those that run are cut off by the close that follows. */
  private void rejectQueued(CompletableFuture<Void> drained) {
    throttler.rejectQueued();
    try {
      drained.get(REJECTED_WITHIN.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException slow) {
      log.debug("Some connections did not close", slow);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
  }
}
