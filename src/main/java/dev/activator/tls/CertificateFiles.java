package dev.activator.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate in two files, which is replaced when they change.
 *
 * <p>
 * <b>Threads.</b> One at a time reads; {@link #watch} does so on a thread of its own.
 *
 * <p>
 * <b>Errors.</b> Files that cannot be read at first are an {@link IOException} that names them. Later
 * they are a warning, and the certificate before stays.
 */
public final class CertificateFiles {
  private static final Logger log = LoggerFactory.getLogger(CertificateFiles.class);
  private static final long RELOAD_SECONDS = 10;

  private final Path chain;
  private final Path key;
  private final ServerCertificate certificate;
  private @Nullable ScheduledExecutorService watching;

  private CertificateFiles(Path chain, Path key, ServerTls settings) throws IOException {
    this.chain = chain;
    this.key = key;
    this.certificate = ServerCertificate.of(chain + " and " + key, text(chain), text(key),
        settings);
  }

  /** Reads them for the first time: the certificate with those that issued it, and its key. */
  public static CertificateFiles read(Path chain, Path key, ServerTls settings)
      throws IOException {
    return new CertificateFiles(chain, key, settings);
  }

  /** What they say; it changes with them. */
  public ServerCertificate certificate() {
    return certificate;
  }

  /** Reads the files every ten seconds: symbolic links that are swapped raise no event. */
  public void watch() {
    watching = Executors.newSingleThreadScheduledExecutor(
        Thread.ofPlatform().daemon().name("certificate").factory());
    watching.scheduleWithFixedDelay(this::reload, RELOAD_SECONDS, RELOAD_SECONDS,
        TimeUnit.SECONDS);
  }

  /** Takes over what the files say now, for new connections. */
  public void reload() {
    try {
      certificate.replace(text(chain), text(key));
    } catch (IOException failure) {
      log.warn("The certificate stays as it was: {}", failure.getMessage());
    }
  }

  private String text(Path file) throws IOException {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new IOException("cannot read the certificate in " + chain + " and its key in " + key
          + ": " + failure, failure);
    }
  }

  /** Stops watching. */
  public void close() {
    if (watching != null) {
      watching.shutdownNow();
    }
  }
}
