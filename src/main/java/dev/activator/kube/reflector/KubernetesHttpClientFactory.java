package dev.activator.kube.reflector;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import io.fabric8.kubernetes.client.okhttp.OkHttpClientFactory;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import io.fabric8.kubernetes.client.utils.OpenIDConnectionUtils;
import io.fabric8.kubernetes.client.utils.TokenRefreshInterceptor;
import io.fabric8.kubernetes.client.utils.Utils;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import javax.net.ssl.TrustManager;
import okhttp3.Call;
import okhttp3.Dispatcher;
import okhttp3.Dns;
import okhttp3.Interceptor;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import okhttp3.internal.tls.OkHostnameVerifier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The HTTP client for the API. It runs on the activator's threads, reads certificates again when
 * their files change, and can cancel a request while its body is read. The library can only close
 * the body, which OkHttp does not allow from another thread with HTTP/1.1.
 *
 * <p><b>Threads.</b> Any.
 */
final class KubernetesHttpClientFactory extends OkHttpClientFactory {
  /** The header with the name of a request's handle. It is removed before the request is sent. */
  static final String HANDLE = "X-Activator-Handle";
  private static final Logger log = LoggerFactory.getLogger(KubernetesHttpClientFactory.class);
  private static final int UNAUTHORIZED = 401;
  private static final String IDENTITY_AUTHORITY = "idp-certificate-authority";

  private final KubernetesApiClient.@Nullable Source source;
  private final ExecutorService threads;
  private final KeepAliveSockets sockets = new KeepAliveSockets();
  /** Held by the thread that checks whether certificate files have changed. */
  private final ReentrantLock reading = new ReentrantLock();
  private Config config;
  private volatile @Nullable ExecCredentials exec;
  /** The name of the server in TLS, if it is another than in its URL. */
  private final @Nullable String serverName;
  private ApiCertificates certificates;
  private final FileChangeDetector files;
  private volatile HttpClient client;
  private final AtomicLong made = new AtomicLong();
  private final Map<String, Handle> handles = new ConcurrentHashMap<>();

  /** @param threads an unbounded pool, since each request takes a thread */
  KubernetesHttpClientFactory(Config config, KubernetesApiClient.@Nullable Source source,
      ExecutorService threads) {
    this.config = config;
    this.exec = exec(config);
    this.serverName = serverName(config);
    this.certificates = ApiCertificates.of(config);
    this.source = source;
    this.files = new FileChangeDetector(files());
    this.threads = threads;
    this.client = newClient();
  }

  final class Handle {
    private final String name;
    private @Nullable Call call;
    private boolean cancelled;

    private Handle(String name) {
      this.name = name;
    }

    String name() {
      return name;
    }

    void cancel() {
      handles.remove(name);
      Call running;
      synchronized (this) {
        cancelled = true;
        running = call;
      }
      if (running != null) {
        running.cancel();
      }
    }

    private synchronized void runs(Call now) throws IOException {
      if (cancelled) {
        throw new IOException("cancelled");
      }
      call = now;
    }
  }

  Handle newHandle() {
    var handle = new Handle(Long.toString(made.incrementAndGet()));
    handles.put(handle.name(), handle);
    return handle;
  }

  /** A client that makes requests, and sends none: it may have no credentials yet. */
  HttpClient unauthenticated() {
    return client;
  }

  /**
   * The client with the current certificates. After a change, the connections are closed, so that
   * no request uses a certificate that was replaced. While one caller reads a kubeconfig, the others
   * get the last client; if a command has the credentials, they wait.
   *
   * <p><b>Source.</b> {@code cert_rotation.go} of client-go.
   *
   * @throws CredentialsException if a command has no credentials
   */
  HttpClient client() {
    if (exec != null) {
      // The last client may not have the command's certificate yet.
      reading.lock();
    } else if (!reading.tryLock()) {
      return client;
    }
    var next = client;
    try {
      next = unlessChanged(client);
      next = withCredentials(next);
      return next;
    } finally {
      // Also without credentials, because the change of the kubeconfig is not seen a second time.
      client = next;
      reading.unlock();
    }
  }

  /** A client with the key that the command of the kubeconfig's user printed last. */
  private HttpClient withCredentials(HttpClient last) {
    var plugin = exec;
    if (plugin == null) {
      return last;
    }
    var now = plugin.current();
    var before = certificates;
    if (Objects.equals(now.chain(), before.chain()) && Objects.equals(now.key(), before.key())) {
      return last;
    }
    try {
      certificates = before.withKey(now.chain(), now.key());
      var next = newClient();
      sockets.closeAll();
      return next;
    } catch (IllegalArgumentException e) {
      certificates = before;
      plugin.refused();
      throw new CredentialsException(String.valueOf(e.getMessage()));
    }
  }

  private static @Nullable String serverName(Config config) {
    var name = config.getTlsServerName();
    if (name != null && (config.getHttpsProxy() != null || config.getHttpProxy() != null)) {
      throw new IllegalArgumentException("tls-server-name '" + name
          + "' of the kubeconfig's cluster cannot be used through a proxy");
    }
    return name;
  }

  private static @Nullable ExecCredentials exec(Config config) {
    return config.getOauthTokenProvider() instanceof ExecCredentials plugin ? plugin : null;
  }

  private HttpClient unlessChanged(HttpClient last) {
    var changed = files.due();
    if (changed.isEmpty()) {
      return last;
    }
    try {
      var next = haveChanged(changed) ? newClient() : last;
      if (next != last) {
        log.info("The certificates for {} were read again", config.getMasterUrl());
        // The library is not used for this, because it would end our threads.
        sockets.closeAll();
      }
      files.used();
      return next;
    } catch (RuntimeException e) {
      log.atLevel(files.failed() ? Level.WARN : Level.DEBUG).log(
          "The certificates for {} have changed, but cannot be used; the last ones stay in use: {}",
          config.getMasterUrl(), String.valueOf(e.getCause() == null ? e : e.getCause()));
      return last;
    }
  }

  private boolean haveChanged(Set<Path> changed) {
    if (source == null || !changed.contains(source.kubeconfig())) {
      return true;
    }
    var next = source.reread().get();
    var now = ApiCertificates.of(next);
    if (!files.hasFailed() && changed.size() == 1 && exec == null && exec(next) == null
        && now.equals(certificates)) {
      // Usually only a token was replaced.
      return false;
    }
    config = next;
    exec = exec(next);
    certificates = now;
    files.follow(files());
    return true;
  }

  private List<Path> files() {
    return Stream.concat(Stream.ofNullable(source).map(KubernetesApiClient.Source::kubeconfig),
        certificates.files()).distinct().toList();
  }

  void close() {
    client.close();
    sockets.closeAll();
  }

  /**
   * Makes a client that trusts only the cluster's own authorities, if there are any. The library
   * would add Java's authorities, and loading those takes 30 ms.
   *
   * <p><b>Source.</b> {@code TLSConfigFor} and the provider {@code oidc} of client-go.
   *
   * @throws IllegalArgumentException if certificates cannot be read
   */
  private HttpClient newClient() {
    HttpClient.Factory factory = this;
    var builder = factory.newBuilder();
    secure(builder);
    if (config.getAuthProvider() != null) {
      // Tokens are refreshed with a separate client, because the library closes that client and its
      // threads.
      HttpClient.Factory identityProvider = new OkHttpClientFactory();
      builder.addOrReplaceInterceptor(TokenRefreshInterceptor.NAME, new TokenRefreshInterceptor(
          config, Clock.systemUTC().instant(),
          newest -> OpenIDConnectionUtils.resolveOIDCTokenFromAuthConfig(
              config, withAuthority(newest.getAuthProvider().getConfig()),
              identityProvider.newBuilder())));
    }
    return builder.build();
  }

  private void secure(HttpClient.Builder builder) {
    boolean trustsAll = config.isTrustCerts();
    boolean hasAuthorities = !trustsAll && certificates.hasAuthorities();
    var keys = certificates.clientKeys();
    try {
      clientCertificate(null, null, null, null);
      config.setTlsServerName(null);
      // If there are authorities, this is set so that the library does not load Java's.
      config.setTrustCerts(trustsAll || hasAuthorities);
      HttpClientUtils.applyCommonConfiguration(config, builder, this);
      if (hasAuthorities || keys != null) {
        builder.sslContext(keys, hasAuthorities
            ? new TrustManager[]{certificates.trust()}
            : SSLUtils.trustManagers(config));
      }
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("TLS cannot be used: " + e.getMessage());
    } finally {
      config.setTrustCerts(trustsAll);
      clientCertificate(certificates.chain(), certificates.chainFile(), certificates.key(),
          certificates.keyFile());
    }
  }

  private void clientCertificate(@Nullable String chain, @Nullable String chainFile,
      @Nullable String key, @Nullable String keyFile) {
    config.setClientCertData(chain);
    config.setClientCertFile(chainFile);
    config.setClientKeyData(key);
    config.setClientKeyFile(keyFile);
  }

  /**
   * The identity provider's settings with an authority. Without one, the library would trust the
   * cluster's authorities, and fail if there are none.
   */
  private static Map<String, String> withAuthority(Map<String, String> identityProvider) {
    var settings = new HashMap<>(identityProvider);
    if (Utils.isNullOrEmpty(settings.get(IDENTITY_AUTHORITY + "-data"))) {
      settings.put(IDENTITY_AUTHORITY + "-data", base64(settings.get(IDENTITY_AUTHORITY)));
    }
    return settings;
  }

  /** @return the file in base64; empty, which means Java's authorities, if there is no file */
  private static String base64(@Nullable String file) {
    try {
      return file == null || file.isEmpty()
          ? ""
          : Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(file)));
    } catch (IOException e) {
      throw new IllegalArgumentException(
          IDENTITY_AUTHORITY + " cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  protected OkHttpClient.Builder newOkHttpClientBuilder() {
    var dispatcher = new Dispatcher(threads);
    dispatcher.setMaxRequests(Integer.MAX_VALUE);
    dispatcher.setMaxRequestsPerHost(Integer.MAX_VALUE);
    var builder = new OkHttpClient.Builder().dispatcher(dispatcher)
        .readTimeout(Duration.ZERO).writeTimeout(Duration.ZERO)
        .pingInterval(Duration.ofMillis(config.getWebsocketPingInterval()))
        .socketFactory(sockets).addInterceptor(this::intercept);
    if (serverName != null && isInUrl(serverName)) {
      var host = URI.create(config.getMasterUrl()).getHost();
      builder.dns(name -> Dns.SYSTEM.lookup(name.equalsIgnoreCase(serverName) ? host : name));
    } else if (serverName != null) {
      builder.hostnameVerifier(
          (_, session) -> OkHostnameVerifier.INSTANCE.verify(serverName, session));
    }
    if (config.isTrustCerts() || config.isDisableHostnameVerification()) {
      // The library sets this only if it also loads the client certificate.
      builder.hostnameVerifier((_, _) -> true);
    }
    return builder;
  }

  private Response intercept(Interceptor.Chain chain) throws IOException {
    var request = chain.request();
    var name = request.header(HANDLE);
    if (name == null) {
      return chain.proceed(request);
    }
    var handle = handles.get(name);
    if (handle == null) {
      throw new IOException("cancelled");
    }
    handle.runs(chain.call());
    var response = chain.proceed(named(request).removeHeader(HANDLE).build());
    var plugin = exec;
    if (plugin != null && response.code() == UNAUTHORIZED) {
      plugin.refused();
    }
    return response;
  }

  /** Whether OkHttp gets the name from the URL. To an IP address there it would connect. */
  private static boolean isInUrl(String serverName) {
    return !serverName.matches("[0-9.]+|.*:.*");
  }

  /**
   * The request under the name that the server has in TLS ({@code tls-server-name}), which OkHttp
   * takes from the URL: {@link Dns} leads it to the server's address, and {@code Host} stays.
   */
  private Request.Builder named(Request request) {
    var builder = request.newBuilder();
    if (serverName != null && isInUrl(serverName)) {
      var url = request.url();
      builder.url(url.newBuilder().host(serverName).build())
          .header("Host", URI.create(url.toString()).getAuthority());
    }
    return builder;
  }
}
