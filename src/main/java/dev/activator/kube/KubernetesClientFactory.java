package dev.activator.kube;

import dev.activator.kube.decode.ListWatchParser;
import dev.activator.kube.policy.KubernetesVersion;
import dev.activator.kube.reflector.ApiErrorText;
import dev.activator.kube.reflector.ExecCredentials;
import dev.activator.kube.reflector.ExecPlugin;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.config.OutboundProxies;
import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the client of a cluster's API, configured from a kubeconfig or the pod's service account.
 */
public final class KubernetesClientFactory {
  private static final Logger log = LoggerFactory.getLogger(KubernetesClientFactory.class);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration PING_INTERVAL = Duration.ofSeconds(30);

  private KubernetesClientFactory() {}

  /** @throws ClusterUnavailableException if the kubeconfig, a certificate or a key cannot be used */
  static KubernetesApiClient open(ClusterAccess access, KubernetesWriteRateLimiter writes) {
    try {
      return new KubernetesApiClient(configured(access), source(access), writes);
    } catch (IllegalArgumentException e) {
      throw new ClusterUnavailableException(String.valueOf(e.getMessage()));
    } catch (KubernetesClientException e) {
      throw new ClusterUnavailableException(
          "the Kubernetes API cannot be used: " + e.getCause());
    }
  }

  private static KubernetesApiClient.@Nullable Source source(ClusterAccess access) {
    return switch (access) {
      case ClusterAccess.Kubeconfig from ->
        new KubernetesApiClient.Source(from.file(), () -> configured(access));
      case ClusterAccess.Through(var inner, _) -> {
        var file = source(inner);
        yield file == null
            ? null
            : new KubernetesApiClient.Source(file.kubeconfig(), () -> configured(access));
      }
      case ClusterAccess.InCluster _,ClusterAccess.At _ -> null;
    };
  }

  /** @throws ClusterUnavailableException if the kubeconfig cannot be used */
  static Config configured(ClusterAccess access) {
    var config = config(access);
    // This also names the field manager of the activator's writes, which appears in conflicts of
    // server-side apply.
    config.setUserAgent("activator");
    // Reflectors retry with their own backoff.
    config.setRequestRetryBackoffLimit(0);
    config.setRequestTimeout((int) REQUEST_TIMEOUT.toMillis());
    config.setConnectionTimeout((int) CONNECT_TIMEOUT.toMillis());
    // This also applies to HTTP/2. A half-open connection is detected within a minute.
    config.setWebsocketPingInterval(PING_INTERVAL.toMillis());
    return config;
  }

  private static Config config(ClusterAccess access) {
    return switch (access) {
      case ClusterAccess.InCluster() -> Config.autoConfigure(null);
      case ClusterAccess.Kubeconfig from -> kubeconfig(from);
      case ClusterAccess.At(var url) -> {
        var config = Config.empty();
        config.setMasterUrl(url.toString());
        yield config;
      }
      case ClusterAccess.Through(var inner, var proxies) -> through(proxies, inner);
    };
  }

  private static Config through(OutboundProxies proxies, ClusterAccess access) {
    var config = config(access);
    // In a pod, the library has already applied the proxy variables, but by other rules.
    var own = access instanceof ClusterAccess.Kubeconfig ? ownProxy(config) : null;
    var proxy = proxies.of(URI.create(config.getMasterUrl()));
    var url = own == null && proxy != null ? proxy.toString() : own;
    config.setHttpProxy(url);
    config.setHttpsProxy(url);
    config.setNoProxy(null);
    return config;
  }

  private static @Nullable String ownProxy(Config config) {
    return config.getHttpsProxy() == null ? config.getHttpProxy() : config.getHttpsProxy();
  }

  static io.fabric8.kubernetes.api.model.Config read(ClusterAccess.Kubeconfig access) {
    var file = access.file();
    if (!Files.isReadable(file)) {
      throw new ClusterUnavailableException("there is no readable kubeconfig at " + file);
    }
    try {
      return KubeconfigReader.read(file);
    } catch (RuntimeException e) {
      throw unusable(file, e);
    }
  }

  private static ClusterUnavailableException unusable(Path file, Exception cause) {
    return new ClusterUnavailableException(
        "the kubeconfig at " + file + " cannot be used: " + cause.getMessage());
  }

  private static Config kubeconfig(ClusterAccess.Kubeconfig access) {
    var file = access.file();
    var read = read(access);
    try {
      if (read.getCurrentContext() == null && access.cluster().isBlank()
          && !access.server().isBlank()) {
        return config(new ClusterAccess.At(URI.create(access.server())));
      }
      var context = named("context", read.getCurrentContext(), read.getContexts(),
          NamedContext::getName).getContext();
      if (!access.cluster().isBlank()) {
        context.setCluster(access.cluster());
      }
      var cluster = named("cluster", context.getCluster(), read.getClusters(),
          NamedCluster::getName).getCluster();
      if (!access.server().isBlank()) {
        cluster.setServer(access.server());
      } else if (cluster.getServer() == null) {
        throw new IllegalArgumentException(
            "its cluster '" + context.getCluster() + "' has no server");
      }
      if (cluster.getInsecureSkipTlsVerify() && (cluster.getCertificateAuthority() != null
          || cluster.getCertificateAuthorityData() != null)) {
        // client-go refuses this, too. The library would skip the verification.
        throw new IllegalArgumentException("its cluster '" + context.getCluster()
            + "' has a certificate authority and 'insecure-skip-tls-verify: true'");
      }
      var user = context.getUser() == null
          ? null
          : named("user", context.getUser(), read.getUsers(), NamedAuthInfo::getName).getUser();
      var plugin = user == null ? null : plugin(user, cluster, file);
      var config = Config.empty();
      KubeConfigUtils.merge(config, null, read);
      if (user != null) {
        use(user, config, file);
      }
      if (plugin != null) {
        config.setOauthTokenProvider(new ExecCredentials(plugin, Clock.systemUTC()));
      }
      return config;
    } catch (IOException | RuntimeException e) {
      throw unusable(file, e);
    }
  }

  /**
   * Finds the entry with a name, and fails if there is none. The library would ignore that.
   *
   * <p><b>Source.</b> {@code ConfirmUsable} of client-go.
   */
  private static <T> T named(String kind, @Nullable String name, List<T> all,
      Function<T, String> nameOf) {
    var missing = name == null ? "it names no " + kind : "it has no " + kind + " '" + name + "'";
    return all.stream().filter(one -> Objects.equals(nameOf.apply(one), name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(missing));
  }

  /**
   * Takes the plugin from a user; null if it has none, or a token, which wins as in client-go. The
   * library would run it without what it needs, and would go on without credentials if it fails.
   */
  private static @Nullable ExecPlugin plugin(AuthInfo user, Cluster cluster, Path kubeconfig)
      throws IOException {
    var exec = user.getExec();
    user.setExec(null);
    if (exec == null || user.getToken() != null || user.getTokenFile() != null) {
      return null;
    }
    if (user.getAuthProvider() != null) {
      throw new IllegalArgumentException("its user has both 'exec' and 'auth-provider'");
    }
    return ExecPlugin.of(exec, cluster, kubeconfig);
  }

  /** Applies the fields of the user that the library ignores. */
  private static void use(AuthInfo user, Config config, Path file) {
    if (user.getAsUid() != null) {
      throw new IllegalArgumentException("its user has 'as-uid', which is not supported");
    }
    if (user.getAs() == null
        && !(user.getAsGroups().isEmpty() && user.getAsUserExtra().isEmpty())) {
      // The library would ignore the impersonation and act as the user, who may have more
      // permissions.
      throw new IllegalArgumentException(
          "its user has 'as-groups' or 'as-user-extra', but no 'as'");
    }
    config.setImpersonateUsername(user.getAs());
    config.setImpersonateGroups(user.getAsGroups().toArray(new String[0]));
    var extras = new HashMap<String, List<String>>();
    user.getAsUserExtra().forEach((key, values) -> extras.put(headerName(key), values));
    config.setImpersonateExtras(extras);
    if (user.getTokenFile() != null) {
      TokenFile.use(file.resolveSibling(user.getTokenFile()), user.getToken(), config);
    }
  }

  /**
   * The header name for a key, percent-encoded as in client-go. Most keys contain a slash, which a
   * header name must not contain.
   */
  private static String headerName(String key) {
    return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /**
   * A token in a file. It is read for each request, because it may be replaced at any time. While
   * the file cannot be read, the last token is used, or at first that of the field {@code token}.
   *
   * <p><b>Source.</b> {@code NewBearerAuthWithRefreshRoundTripper} of client-go.
   */
  private static final class TokenFile implements OAuthTokenProvider {
    private final Path file;
    private volatile String last;

    private TokenFile(Path file, @Nullable String first) {
      this.file = file;
      this.last = Objects.requireNonNullElse(first, "");
    }

    static void use(Path file, @Nullable String first, Config config) {
      var token = new TokenFile(file, first);
      if (token.getToken().isEmpty()) {
        throw new IllegalArgumentException("there is no token in its tokenFile " + file);
      }
      config.setOauthTokenProvider(token);
    }

    @Override
    public String getToken() {
      try {
        var now = Files.readString(file).strip();
        last = now.isEmpty() ? last : now;
      } catch (IOException e) {
        log.debug("The token cannot be read now", e);
      }
      return last;
    }
  }

  /** The reason why the API cannot be used, in one line; null if it can. */
  public static @Nullable String problem(KubernetesApiClient api, KubernetesVersion minimum) {
    try {
      var version = api.get("version", CONNECT_TIMEOUT, ListWatchParser::gitVersion).get();
      if (version.isEmpty()) {
        return "the server at " + api.url() + " is no Kubernetes API: it reports no version";
      }
      return KubernetesVersion.parse(version).isAtLeast(minimum)
          ? null
          : "the Kubernetes API at " + api.url() + " is " + version + ", but must be at least "
              + minimum;
    } catch (IllegalArgumentException e) {
      return "the server at " + api.url() + " is no Kubernetes API: " + e.getMessage();
    } catch (ExecutionException e) {
      return new ApiErrorText(api.url()).about("get", "/version", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }
}
