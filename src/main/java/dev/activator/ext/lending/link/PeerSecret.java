package dev.activator.ext.lending.link;

import dev.activator.tls.SelfSignedCertificate;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import dev.activator.tls.SystemInternalTls;
import java.io.IOException;

/**
 * The Secret with the key by which activators identify each other. An activator that finds it
 * missing or empty creates the key.
 *
 * <p><b>Threads.</b> Any, and no call waits.
 *
 * <p><b>Errors.</b> Failures are results.
 *
 * <p><b>Source.</b> The webhooks of Knative, which also fill an empty Secret from their manifest.
 */
public final class PeerSecret {
  public static final String NAME = "activator-peers";
  private static final String CERTIFICATE = "tls.crt";
  private static final String KEY = "tls.key";
  private static final String JSON_TYPE = "application/json";
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int ATTEMPTS = 3;
  private static final JsonMapper JSON = new JsonMapper();

  private final Supplier<@Nullable KubernetesApiClient> api;
  private final String namespace;

  public sealed interface Answer {
    /** The certificate chain and the key, in PEM. */
    record Found(String chain, String key) implements Answer {
      /** Leaves out the key, which must not get into a log. */
      @Override
      public String toString() {
        return "Found";
      }
    }

    /** @param why the reason, for people */
    record Refused(String why) implements Answer {}
  }

  /** @param api null while there is no connection */
  public PeerSecret(Supplier<@Nullable KubernetesApiClient> api, String namespace) {
    this.api = api;
    this.namespace = namespace;
  }

  /** The name of the Secret, for messages. */
  @Override
  public String toString() {
    return "the Secret " + namespace + "/" + NAME;
  }

  /** Reads the key, and creates one if there is none. */
  public CompletableFuture<Answer> read() {
    var open = api.get();
    return (open == null ? refused("no connection to the Kubernetes API") : read(open, ATTEMPTS))
        .exceptionally(failure -> new Answer.Refused("no answer from the Kubernetes API"));
  }

  private CompletableFuture<Answer> read(KubernetesApiClient open, int attempts) {
    return open.fetch(path() + "/" + NAME, TIMEOUT).thenCompose(answer -> switch (answer.status()) {
      case 200 -> found(open, answer, attempts);
      case 404 -> write(open, JSON.createObjectNode(), attempts);
      default -> refused("get", answer);
    });
  }

  private CompletableFuture<Answer> found(KubernetesApiClient open, ApiAnswer answer,
      int attempts) {
    try {
      if (!(JSON.readTree(answer.body()) instanceof ObjectNode object)) {
        return refused("it is no object");
      }
      var data = object.path("data");
      var chain = text(data, CERTIFICATE);
      var key = text(data, KEY);
      if (chain.isEmpty() && key.isEmpty()) {
        return write(open, object, attempts);
      }
      return chain.isEmpty() || key.isEmpty()
          ? refused("it needs both " + CERTIFICATE + " and " + KEY)
          : CompletableFuture.completedFuture(new Answer.Found(chain, key));
    } catch (JacksonException | IllegalArgumentException e) {
      return refused("it cannot be read");
    }
  }

  private static String text(JsonNode data, String name) {
    return new String(Base64.getDecoder().decode(data.path(name).asString("")),
        StandardCharsets.UTF_8);
  }

  /** @param object the Secret as it was read; empty if it does not exist */
  private CompletableFuture<Answer> write(KubernetesApiClient open, ObjectNode object,
      int attempts) {
    boolean creates = object.isEmpty();
    var made = SelfSignedCertificate.of(NAME);
    object.put("apiVersion", "v1").put("kind", "Secret");
    object.withObjectProperty("metadata").put("namespace", namespace).put("name", NAME);
    object.withObjectProperty("data").put(CERTIFICATE, base64(made.certificate()))
        .put(KEY, base64(made.key()));
    return open.send(creates ? "POST" : "PUT", creates ? path() : path() + "/" + NAME, JSON_TYPE,
        object.toString(), TIMEOUT).thenCompose(answer -> switch (answer.status()) {
          case 200, 201 ->
            CompletableFuture.completedFuture(new Answer.Found(made.certificate(), made.key()));
          // Another activator has written the Secret first.
          case 409 -> attempts > 1
              ? read(open, attempts - 1)
              : refused(creates ? "create" : "update", answer);
          default -> refused(creates ? "create" : "update", answer);
        });
  }

  private String path() {
    return "api/v1/namespaces/" + namespace + "/secrets";
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static CompletableFuture<Answer> refused(String verb, ApiAnswer answer) {
    return refused("cannot " + verb + " it: " + answer.status() + " " + answer.message());
  }

  private static CompletableFuture<Answer> refused(String why) {
    return CompletableFuture.completedFuture(new Answer.Refused(why));
  }

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
}
