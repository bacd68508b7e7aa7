package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/**
 * A client of the Kubernetes API. It uses the client library for authentication, TLS and proxies,
 * but not for objects.
 *
 * <p><b>Threads.</b> Any thread may call, and no call waits. Bodies are read on the client's own
 * threads.
 *
 * <p><b>Errors.</b> {@link #get} and streams fail with a {@link KubernetesApiException} for any
 * status but 200. Nothing is retried.
 */
public final class KubernetesApiClient implements AutoCloseable {
  static final int OK = 200;
  /** The most that is read of an answer that is a failure. */
  private static final int MAX_STATUS = 1 << 16;
  private static final Duration LIBRARY_TIMEOUT_DELAY = Duration.ofSeconds(1);
  private static final String RETRY_AFTER = "Retry-After";
  /** The API server's limit for one object, plus the levels of the list around it. */
  private static final int MAX_JSON_DEPTH = 10_010;

  private final String url;
  private final Duration requestTimeout;
  private final ExecutorService threads;
  private final KubernetesHttpClientFactory transport;
  private final JsonFactory json = JsonFactory.builder().streamReadConstraints(
      StreamReadConstraints.builder().maxNestingDepth(MAX_JSON_DEPTH).build()).build();
  /** The first client, which is used only to build requests. The newest client sends them. */
  private final HttpClient first;
  private final KubernetesWriteRateLimiter writes;

  /**
   * A kubeconfig that is read again when it changes.
   *
   * @param reread reads the file again; it throws if the file cannot be used
   */
  public record Source(Path kubeconfig, Supplier<Config> reread) {}

  /** @param source null if the configuration does not come from a kubeconfig */
  public KubernetesApiClient(Config config, @Nullable Source source,
      KubernetesWriteRateLimiter writes) {
    this(config, source, writes, Executors.newCachedThreadPool(
        Thread.ofPlatform().daemon().name("kubernetes-", 1).factory()));
  }

  /** @param threads an unbounded pool, since each request takes a thread */
  KubernetesApiClient(Config config, @Nullable Source source, KubernetesWriteRateLimiter writes,
      ExecutorService threads) {
    this.writes = writes;
    this.threads = threads;
    this.transport = new KubernetesHttpClientFactory(config, source, threads);
    var master = config.getMasterUrl();
    this.url = master.endsWith("/") ? master : master + "/";
    this.requestTimeout = Duration.ofMillis(config.getRequestTimeout());
    this.first = transport.unauthenticated();
  }

  /** The URL of the API, with a slash at the end. */
  public String url() {
    return url;
  }

  Duration requestTimeout() {
    return requestTimeout;
  }

  JsonParser parser(byte[] bytes, int from, int length) {
    return json.createParser(ObjectReadContext.empty(), bytes, from, length);
  }

  /**
   * Sends a GET. Cancelling the result cancels the request.
   *
   * @param path a path without a leading slash
   * @param read parses the body while it arrives, on a thread of this client
   */
  public <R> CompletableFuture<R> get(String path, Duration timeout,
      Function<JsonParser, R> read) {
    return exchange(request(path), timeout, response -> read(response, read));
  }

  /** @param retryAfter the pause that the server requested; zero if none */
  public record ApiAnswer(int status, Duration retryAfter, byte[] body) {
    /** The message of a {@code Status}, for people; empty if the body is no Status. */
    public String message() {
      return ListWatchParser.message(body);
    }
  }

  /**
   * Sends a write when {@link KubernetesWriteRateLimiter} allows it. The result fails only if there
   * is no answer. It is then unknown whether the write took effect, but it is not sent after the
   * timeout.
   *
   * @param path a path without a leading slash and without a query
   * @param body the body, in JSON
   * @param timeout the timeout, after which the server also gives up
   */
  public CompletableFuture<ApiAnswer> send(String method, String path, String contentType,
      String body, Duration timeout) {
    return writes.send(timeout,
        left -> exchange(request(path + "?timeout=" + left.toMillis() + "ms").method(method,
            contentType, body), left));
  }

  /** Sends a GET for a small object. The result is that of {@link #send}. */
  public CompletableFuture<ApiAnswer> fetch(String path, Duration timeout) {
    return exchange(request(path), timeout);
  }

  /**
   * Sends a request. The timeout is not the library's, which would allow twice the time, and would
   * not include the time before sending. That one comes later, so that a timeout is one kind of error.
   */
  private CompletableFuture<ApiAnswer> exchange(HttpRequest.Builder request, Duration timeout) {
    return exchange(request, timeout.plus(LIBRARY_TIMEOUT_DELAY), KubernetesApiClient::whole)
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static ApiAnswer whole(HttpResponse<InputStream> response) {
    try (var bytes = response.body()) {
      return new ApiAnswer(response.code(), retryAfter(response), bytes.readAllBytes());
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  private <R> CompletableFuture<R> exchange(HttpRequest.Builder builder, Duration timeout,
      Function<HttpResponse<InputStream>, R> read) {
    var handle = transport.newHandle();
    try {
      var request = builder.header(KubernetesHttpClientFactory.HANDLE, handle.name())
          .timeout(timeout.toMillis(), TimeUnit.MILLISECONDS).build();
      // This does not run on the caller's thread, because a command may have to fetch a token
      // first.
      var answer = CompletableFuture
          .supplyAsync(() -> transport.client().sendAsync(request, InputStream.class), threads)
          .thenCompose(sent -> sent).thenApplyAsync(read, threads);
      answer.whenComplete((_, _) -> handle.cancel());
      return answer;
    } catch (RuntimeException | Error e) {
      handle.cancel();
      return CompletableFuture.failedFuture(e);
    }
  }

  private HttpRequest.Builder request(String path) {
    return first.newHttpRequestBuilder().uri(url + path).header("Accept", "application/json");
  }

  private <R> R read(HttpResponse<InputStream> response, Function<JsonParser, R> read) {
    try (var body = response.body()) {
      if (response.code() != OK) {
        throw new KubernetesApiException(response.code(), retryAfter(response),
            ListWatchParser.message(body.readNBytes(MAX_STATUS)));
      }
      try (var parser = json.createParser(ObjectReadContext.empty(), body)) {
        return read.apply(parser);
      }
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  static KubernetesApiException failure(HttpResponse<?> response) {
    return new KubernetesApiException(response.code(), retryAfter(response));
  }

  private static Duration retryAfter(HttpResponse<?> response) {
    var after = response.header(RETRY_AFTER);
    boolean isSeconds = after != null && after.matches("\\d{1,18}");
    return isSeconds ? Duration.ofSeconds(Long.parseLong(after)) : Duration.ZERO;
  }

  /** @param longest the time after which the stream fails */
  LineStream stream(String path, Duration longest, LineStream.Listener listener) {
    var stream = new LineStream(transport, requestTimeout, listener);
    try {
      var request = request(path);
      threads.execute(() -> stream.open(request, longest));
    } catch (RuntimeException | Error e) {
      stream.end(e);
    }
    return stream;
  }

  @Override
  public void close() {
    transport.close();
    threads.shutdown();
  }
}
