package dev.activator.cluster.reflector;

import io.fabric8.kubernetes.client.okhttp.OkHttpClientFactory;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import okhttp3.Call;
import okhttp3.Dispatcher;
import okhttp3.Interceptor;
import okhttp3.OkHttpClient;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * Our threads, and cancellation while a body is read: the library only closes the body, which
 * OkHttp does not allow from another thread on HTTP/1.1.
 *
 * <p>
 * <b>Threads.</b> Any.
 */
final class ApiTransport extends OkHttpClientFactory {
  /** The name of a request's handle; not sent. */
  static final String HANDLE = "X-Activator-Handle";

  private final ExecutorService threads;
  private final AtomicLong made = new AtomicLong();
  private final Map<String, Handle> handles = new ConcurrentHashMap<>();

  /** @param threads unbounded: each request takes one */
  ApiTransport(ExecutorService threads) {
    this.threads = threads;
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

  @Override
  protected OkHttpClient.Builder newOkHttpClientBuilder() {
    var dispatcher = new Dispatcher(threads);
    dispatcher.setMaxRequests(Integer.MAX_VALUE);
    dispatcher.setMaxRequestsPerHost(Integer.MAX_VALUE);
    return new OkHttpClient.Builder().dispatcher(dispatcher)
        .socketFactory(new KeepAliveSockets()).addInterceptor(this::intercept);
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
    return chain.proceed(request.newBuilder().removeHeader(HANDLE).build());
  }
}
