package dev.activator.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A certificate in two files, reloaded when they change.
 *
 * <p><b>Threads.</b> One at a time; {@link #watch} starts a separate thread.
 *
 * <p><b>Errors.</b> The first read fails with an {@link IOException}. Later failures are logged,
 * and the previous certificate stays.
 */
public final class CertificateFiles {
  private static final Logger log = LoggerFactory.getLogger(CertificateFiles.class);
  private static final long RELOAD_SECONDS = 10;

  private final Path chain;
  private final Path key;
  private final ServerCertificate certificate;
  private @Nullable ScheduledExecutorService watching;

  private CertificateFiles(Path chain, Path key, ServerTlsSettings settings) throws IOException {
    this.chain = chain;
    this.key = key;
    this.certificate = ServerCertificate.of(chain + " and " + key, text(chain), text(key),
        settings);
  }

  /** @param chain the certificate and its issuers */
  public static CertificateFiles read(Path chain, Path key, ServerTlsSettings settings)
      throws IOException {
    return new CertificateFiles(chain, key, settings);
  }

  public ServerCertificate certificate() {
    return certificate;
  }

  /** Polls the files, because replacing symbolic links raises no event. */
  public void watch() {
    watching = Executors.newSingleThreadScheduledExecutor(
        Thread.ofPlatform().daemon().name("certificate").factory());
    watching.scheduleWithFixedDelay(this::reload, RELOAD_SECONDS, RELOAD_SECONDS,
        TimeUnit.SECONDS);
  }

  public void reload() {
    try {
      certificate.replace(text(chain), text(key));
    } catch (IOException e) {
      log.warn("The previous certificate stays in use: {}", e.getMessage());
    } catch (RuntimeException e) {
      // A bug. Caught, because otherwise the executor would end the watch.
      log.error("Reading the certificate in {} failed; the previous one stays in use", chain, e);
    }
  }

  private String text(Path file) throws IOException {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new IOException("there is no file " + file, e);
    } catch (IOException e) {
      throw new IOException("cannot read " + file + ": " + e.getMessage(), e);
    }
  }

  public void close() {
    if (watching != null) {
      watching.shutdownNow();
    }
  }
}
