package dev.activator.cluster.reflector;

import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The files with the certificates of a connection to the API: authorities, and the client's own with its
 * key. They are replaced while the process runs, as client-go expects, too.
 *
 * <p><b>Threads.</b> Confined to the transport's lock.
 */
final class CertificateFiles {
  private final @Nullable Path kubeconfig;
  private final Supplier<Config> reread;
  private Config config;
  private Map<Path, Stamp> stamps;

  /** Another content, as far as a look at the directory tells. */
  private record Stamp(FileTime modified, long size, @Nullable Object key) {}

  /** @param source null if the certificates are not in a kubeconfig */
  CertificateFiles(Config config, KubernetesApi.@Nullable Source source) {
    this.config = config;
    this.kubeconfig = source == null ? null : source.kubeconfig();
    this.reread = source == null ? () -> config : source.reread();
    this.stamps = stamps();
  }

  /** As they are to be read now. */
  Config config() {
    return config;
  }

  /**
   * Whether a file has changed since the last call.
   *
   * @throws RuntimeException if the kubeconfig cannot be used
   */
  boolean haveChanged() {
    var now = stamps();
    if (now.equals(stamps)) {
      return false;
    }
    var before = stamps;
    stamps = now;
    if (kubeconfig == null || Objects.equals(before.get(kubeconfig), now.get(kubeconfig))) {
      return true;
    }
    var next = reread.get();
    // Most often only a token is replaced.
    boolean others = before.entrySet().stream().anyMatch(one -> !one.getKey().equals(kubeconfig)
        && !one.getValue().equals(now.get(one.getKey())));
    if (!others && certificates(next).equals(certificates(config))) {
      return false;
    }
    config = next;
    stamps = stamps();
    return true;
  }

  private static List<@Nullable String> certificates(Config config) {
    return Arrays.asList(config.getCaCertData(), config.getCaCertFile(),
        config.getClientCertData(), config.getClientCertFile(), config.getClientKeyData(),
        config.getClientKeyFile());
  }

  private Map<Path, Stamp> stamps() {
    var found = new HashMap<Path, Stamp>();
    if (kubeconfig != null) {
      put(found, kubeconfig);
    }
    Arrays.asList(config.getCaCertFile(), config.getClientCertFile(), config.getClientKeyFile())
        .forEach(file -> {
          if (file != null && !file.isEmpty()) {
            put(found, Path.of(file));
          }
        });
    return found;
  }

  /** One that is missing keeps no stamp, and counts when it is there again. */
  private static void put(Map<Path, Stamp> found, Path file) {
    try {
      var now = Files.readAttributes(file, BasicFileAttributes.class);
      found.put(file, new Stamp(now.lastModifiedTime(), now.size(), now.fileKey()));
    } catch (IOException e) {
      found.remove(file);
    }
  }
}
