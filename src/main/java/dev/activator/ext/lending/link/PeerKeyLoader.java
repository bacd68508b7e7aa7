package dev.activator.ext.lending.link;

import dev.activator.ext.lending.link.PeerSecret.Answer;
import dev.activator.tls.SystemInternalTls;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Loads the key by which activators identify each other. With {@code system-internal-tls} it is the
 * key of the routing certificate, otherwise the key in a separate Secret.
 *
 * <p><b>Threads.</b> Any, and no call waits.
 */
public record PeerKeyLoader(PeerTls tls, SystemInternalTls internal,
    PeerSecret secret) implements Supplier<CompletableFuture<String>> {

  /** Reads the key and makes TLS use it. Completes with an error message, or with an empty text. */
  @Override
  public CompletableFuture<String> get() {
    var routing = internal.routing();
    return routing == null
        ? secret.read().thenApply(answer -> switch (answer) {
          case Answer.Found(var chain, var key) -> use(secret.toString(), chain, key);
          case Answer.Refused(var why) -> secret + ": " + why;
        })
        : CompletableFuture
            .supplyAsync(() -> use(internal.source(), routing.chain(), routing.key()));
  }

  private String use(String source, String chain, String key) {
    try {
      tls.use(source, chain, key);
      return "";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
