package dev.activator.observability.trace;

import dev.activator.config.Proxies;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The proxies as Java's clients ask for them. */
final class EgressRoutes extends ProxySelector {
  private static final int USUAL_PORT = 80;
  private static final int USUAL_SECURE_PORT = 443;

  private final Proxies proxies;

  EgressRoutes(Proxies proxies) {
    this.proxies = proxies;
  }

  @Override
  public List<Proxy> select(@Nullable URI target) {
    var url = target == null ? null : proxies.of(target);
    return List.of(url == null ? Proxy.NO_PROXY : proxy(url));
  }

  private static Proxy proxy(URI url) {
    int usual = "https".equals(url.getScheme()) ? USUAL_SECURE_PORT : USUAL_PORT;
    // Looked up by the client, and again after a failure.
    return new Proxy("socks5".equals(url.getScheme()) ? Proxy.Type.SOCKS : Proxy.Type.HTTP,
        InetSocketAddress.createUnresolved(url.getHost(),
            url.getPort() < 0 ? usual : url.getPort()));
  }

  @Override
  public void connectFailed(URI target, SocketAddress proxy, IOException failure) {
    // The exporter says that it failed, and tries again.
  }
}
