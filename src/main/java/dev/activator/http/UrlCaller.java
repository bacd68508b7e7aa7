package dev.activator.http;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.ConnectionPool;
import okhttp3.Dispatcher;
import okhttp3.Dns;
import okhttp3.Headers;
import okhttp3.HttpUrl;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * Sends single requests without a body to URLs. Each call has its own connection, whose address is
 * checked when it is opened, whatever the host's name led to before. It is sent once, follows no
 * redirect, and uses no proxy.
 *
 * <p><b>Threads.</b> Any thread may call. Calls run on their own daemon threads.
 */
public final class UrlCaller {
  private static final int MAX_CALLS = 64;
  private static final int IDLE_SECONDS = 10;

  private final Dns names;
  private final AddressRule rule;
  private final Duration connectTimeout;
  /** Made when it is needed, since most installations never call. */
  private @Nullable OkHttpClient client;

  /** Which addresses may be connected to. */
  public interface AddressRule {
    AddressRule ANY = (_, _) -> null;

    /** Why the address of a host may not be connected to; null if it may. */
    @Nullable String refusal(String host, InetAddress address) throws IOException;
  }

  public sealed interface Outcome {
    /**
     * @param retryAfter the header {@code Retry-After}; empty if there is none
     * @param body its first bytes, up to the given number
     */
    record Answered(int status, String retryAfter, String body) implements Outcome {}

    /** @param refused whether the activator may not connect to the address */
    record Failed(String why, boolean refused) implements Outcome {}
  }

  /**
   * @param names finds the addresses of hosts
   * @param connectTimeout for each address; zero for that of the whole call
   */
  public UrlCaller(Dns names, AddressRule rule, Duration connectTimeout) {
    this.names = names;
    this.rule = rule;
    this.connectTimeout = connectTimeout;
  }

  private synchronized OkHttpClient client() {
    var made = client;
    if (made != null) {
      return made;
    }
    var threads = new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS,
        new SynchronousQueue<>(), Thread.ofPlatform().daemon().name("url-calls-", 1).factory());
    var dispatcher = new Dispatcher(threads);
    dispatcher.setMaxRequests(MAX_CALLS);
    dispatcher.setMaxRequestsPerHost(MAX_CALLS);
    made = new OkHttpClient.Builder().dispatcher(dispatcher)
        .connectionPool(new ConnectionPool(0, 1, TimeUnit.SECONDS))
        .protocols(List.of(Protocol.HTTP_1_1)).proxy(Proxy.NO_PROXY)
        .dns(names).followRedirects(false).followSslRedirects(false)
        .retryOnConnectionFailure(false)
        .connectTimeout(connectTimeout).readTimeout(Duration.ZERO).writeTimeout(Duration.ZERO)
        .build();
    client = made;
    return made;
  }

  /**
   * Sends a request. The result never fails.
   *
   * @param timeout of all of it
   * @param maxBody how many bytes of the answer's body are read
   */
  public CompletableFuture<Outcome> call(String method, HttpUrl url, Map<String, String> headers,
      Duration timeout, int maxBody) {
    // The client would offer gzip, and the body is read before it is decompressed.
    var fields = new Headers.Builder().set("User-Agent", "activator")
        .set("Accept-Encoding", "identity");
    headers.forEach(fields::set);
    boolean hasBody = !method.equals("GET") && !method.equals("DELETE");
    var request = new Request.Builder().url(url).headers(fields.build())
        .method(method, hasBody ? RequestBody.EMPTY : null).build();
    var outcome = new CompletableFuture<Outcome>();
    var call = client().newBuilder()
        .socketFactory(new CheckedSockets(url.host()))
        .addNetworkInterceptor(chain -> {
          var response = chain.proceed(chain.request());
          outcome.complete(new Outcome.Answered(response.code(),
              Objects.requireNonNullElse(response.header("Retry-After"), ""),
              maxBody == 0 ? "" : response.peekBody(maxBody).string()));
          // The client would send it again after 408, and after 503 with Retry-After: 0.
          chain.call().cancel();
          return response;
        }).build().newCall(request);
    call.enqueue(new Callback() {
      @Override
      public void onResponse(Call done, Response response) {
        response.close();
      }

      @Override
      public void onFailure(Call done, IOException failure) {
        outcome.complete(failed(failure));
      }
    });
    // Not the client's own timeout, which a name server that does not answer outlasts.
    return outcome.completeOnTimeout(new Outcome.Failed("there was no answer within "
        + timeout.toSeconds() + " s", false), timeout.toNanos(), TimeUnit.NANOSECONDS)
        .whenComplete((_, _) -> call.cancel());
  }

  /** The reason of a failure, without the words of certificates and answers. */
  private static Outcome.Failed failed(IOException failure) {
    var refused = Stream.concat(Stream.of(failure), Stream.of(failure.getSuppressed()))
        .filter(AddressRefusedException.class::isInstance).findFirst();
    if (refused.isPresent()) {
      return new Outcome.Failed(String.valueOf(refused.get().getMessage()), true);
    }
    return switch (failure) {
      case UnknownHostException _ -> new Outcome.Failed("its host name has no address", false);
      case ConnectException _,SocketTimeoutException _ ->
        new Outcome.Failed("nothing takes connections there", false);
      case NoRouteToHostException _ -> new Outcome.Failed("there is no route to it", false);
      case SSLPeerUnverifiedException _ -> new Outcome.Failed(
          "its certificate is for another name", false);
      case SSLException _ -> new Outcome.Failed(
          "TLS failed: its certificate is not trusted, or it speaks no TLS", false);
      default -> new Outcome.Failed("the connection broke before an answer in HTTP", false);
    };
  }

  private static final class AddressRefusedException extends IOException {
    AddressRefusedException(String message) {
      super(message);
    }
  }

  /** Connects to allowed addresses only. */
  private final class CheckedSockets extends OkHttpSocketFactory {
    private final String host;

    CheckedSockets(String host) {
      this.host = host;
    }

    @Override
    public Socket createSocket() {
      return new Socket(Proxy.NO_PROXY) {
        @Override
        public void connect(SocketAddress to, int timeout) throws IOException {
          check(((InetSocketAddress) to).getAddress());
          super.connect(to, timeout);
        }
      };
    }

    private void check(@Nullable InetAddress address) throws IOException {
      if (address == null) {
        throw new UnknownHostException(host);
      }
      var refusal = rule.refusal(host, address);
      if (refusal != null) {
        throw new AddressRefusedException("its host name leads to " + address.getHostAddress()
            + ", " + refusal + ", which no allowed prefix names");
      }
    }
  }
}
