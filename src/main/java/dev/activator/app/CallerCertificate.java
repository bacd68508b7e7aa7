package dev.activator.app;

import dev.activator.app.properties.TlsProperties;
import dev.activator.tls.CertificateFiles;
import dev.activator.tls.ServerCertificate;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The certificate that callers are shown: the files' where some are named, else the system's own.
 *
 * <p>
 * <b>Threads.</b> One opens and closes.
 */
public final class CallerCertificate {
  private static final long RELOAD_SECONDS = 10;

  private final TlsProperties properties;
  private final InternalTls system;
  private @Nullable ScheduledExecutorService reloading;

  public CallerCertificate(TlsProperties properties, InternalTls system) {
    this.properties = properties;
    this.system = system;
  }

  /** Whether files are named, so that there will be TLS for callers. */
  public boolean isInFiles() {
    return properties.certificate() != null;
  }

  /** What to show; null for nothing, and then there is no TLS for callers. */
  public @Nullable ServerCertificate open() throws IOException {
    var chain = properties.certificate();
    var key = properties.key();
    if (chain == null || key == null) {
      return system.certificate();
    }
    var files = CertificateFiles.read(chain, key, properties.server());
    watch(files);
    return files.certificate();
  }

  /** Looks at the files from time to time: links that are swapped, as Kubernetes does, tell no one. */
  private void watch(CertificateFiles files) {
    var timer = Executors.newSingleThreadScheduledExecutor(
        Thread.ofPlatform().daemon().name("certificate").factory());
    timer.scheduleWithFixedDelay(files::reload, RELOAD_SECONDS, RELOAD_SECONDS,
        TimeUnit.SECONDS);
    reloading = timer;
  }

  public void close() {
    if (reloading != null) {
      reloading.shutdownNow();
    }
  }
}
