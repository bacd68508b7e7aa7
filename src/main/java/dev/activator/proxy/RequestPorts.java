package dev.activator.proxy;

import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.loop.Loop;
import dev.activator.throttle.Throttler;
import dev.activator.tls.ServerCertificate;
import dev.activator.tls.ServerCertificate.CertificateFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the ports for requests as the last step of the start, and closes them first.
 *
 * <p><b>Threads.</b> Any may read the port.
 */
public final class RequestPorts {
  private static final Duration REJECTION_TIMEOUT = Duration.ofSeconds(5);
  private static final Logger log = LoggerFactory.getLogger(RequestPorts.class);

  private final ProxyServer server;
  private final Settings settings;
  private final Supplier<@Nullable ServerCertificate> system;
  private final ActivatorHealth health;
  private final Loop loop;
  private final Throttler throttler;
  private @Nullable CertificateFiles files;
  private volatile int http1;

  /**
   * The settings of the ports. A port of 0 stands for any free one.
   *
   * @param certificate reads the certificate from files; null if no files are configured
   */
  public record Settings(String bindAddress, int http1, int h2c, int https,
      @Nullable CertificateSource certificate, Duration propagationDelay, Duration drainTimeout) {}

  @FunctionalInterface
  public interface CertificateSource {
    CertificateFiles read() throws IOException;
  }

  /** @param system the certificate that is used if no files are configured; null for none */
  public RequestPorts(ProxyServer server, Settings settings,
      Supplier<@Nullable ServerCertificate> system, ActivatorHealth health, Loop loop,
      Throttler throttler) {
    this.server = server;
    this.settings = settings;
    this.system = system;
    this.health = health;
    this.loop = loop;
    this.throttler = throttler;
  }

  /**
   * Opens all ports. The port that the kubelet probes is the last, so all are open when it answers.
   */
  public void open() throws IOException {
    try {
      server.listen(settings.bindAddress(), settings.h2c());
      openTls();
      http1 = server.listen(settings.bindAddress(), settings.http1());
    } catch (IOException e) {
      server.close();
      throw e;
    }
  }

  private void openTls() throws IOException {
    var shown = certificate();
    if (shown != null) {
      server.listen(settings.bindAddress(), settings.https(), shown);
    }
  }

  private @Nullable ServerCertificate certificate() throws IOException {
    var source = settings.certificate();
    if (source == null) {
      return system.get();
    }
    files = source.read();
    files.watch();
    return files.certificate();
  }

  public boolean isOpen() {
    return http1 > 0;
  }

  public int http1() {
    return http1;
  }

  /**
   * Becomes unready, waits until load balancers have noticed, then until running requests have
   * ended, and closes. In the second half of the first wait, responses request callers to close
   * their connections, because a request that is sent while we close would be lost.
   */
  public void drain() {
    health.draining();
    log.info("Draining: no longer ready, and open for another {} s",
        settings.propagationDelay().toSeconds());
    var drained = new CompletableFuture<Void>();
    loop.schedule(settings.propagationDelay().dividedBy(2), server::announceDrain);
    loop.schedule(settings.propagationDelay(),
        () -> server.drain().thenRun(() -> drained.complete(null)));
    try {
      var timeout = settings.propagationDelay().plus(settings.drainTimeout());
      drained.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      log.warn("After {} s these requests are left: {}", settings.drainTimeout().toSeconds(),
          unfinished());
      rejectQueued(drained);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
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

  /** Those in flight are cut off when the server is closed. */
  private void rejectQueued(CompletableFuture<Void> drained) {
    throttler.rejectQueued();
    try {
      drained.get(REJECTION_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      log.debug("Some connections did not close", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
