package dev.activator.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that a server's certificate is read from, and again when they change.
 *
 * <p>
 * <b>Threads.</b> One at a time reloads.
 *
 * <p>
 * <b>Errors.</b> Files that cannot be read at first are an {@link IOException} that names them. Later
 * they are a warning, and the certificate before stays.
 */
public final class CertificateFiles {
  private static final Logger log = LoggerFactory.getLogger(CertificateFiles.class);

  private final Path chain;
  private final Path key;
  private final ServerCertificate certificate;
  private Texts loaded;

  private record Texts(String chain, String key) {}

  private CertificateFiles(Path chain, Path key, ServerTls settings) throws IOException {
    this.chain = chain;
    this.key = key;
    this.loaded = texts();
    this.certificate = ServerCertificate.of(chain + " and " + key, loaded.chain, loaded.key,
        settings);
  }

  /** Reads them for the first time: the certificate with those that vouch for it, and its key. */
  public static CertificateFiles read(Path chain, Path key, ServerTls settings)
      throws IOException {
    return new CertificateFiles(chain, key, settings);
  }

  /** What they say; it changes with them. */
  public ServerCertificate certificate() {
    return certificate;
  }

  /** Takes over what the files say now, for connections from now on. */
  public void reload() {
    try {
      var now = texts();
      if (!now.equals(loaded)) {
        loaded = now;
        certificate.replace(now.chain, now.key);
      }
    } catch (IOException failure) {
      log.warn("The certificate stays as it was: {}", failure.getMessage());
    }
  }

  private Texts texts() throws IOException {
    try {
      return new Texts(Files.readString(chain), Files.readString(key));
    } catch (IOException failure) {
      throw new IOException("cannot read the certificate in " + chain + " and its key in " + key
          + ": " + failure, failure);
    }
  }
}
