package dev.activator.testing.faults;

import dev.activator.embedded.api.policy.ReadParameters;
import dev.activator.embedded.api.policy.ResourcePath;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.http.server.reactive.ServerHttpRequest;

/**
 * What a client asked for.
 *
 * @param verb what it wants done
 * @param about the object or collection
 * @param query its parameters, decoded, the first value of each
 * @param headers by lower-case name
 * @param transport how it is to be answered
 */
public record Asked(Verb verb, About about, Map<String, String> query,
    Map<String, List<String>> headers, Transport transport) {
  /** How a request is answered. */
  public enum Transport {
    HTTP,
    WEBSOCKET
  }

  /**
   * What a request is about.
   *
   * @param resource such as {@code endpoints} or {@code revisions.serving.knative.dev}; empty for
   *        what is not about objects
   * @param namespace empty for all, or for none
   * @param name empty for a collection
   * @param path as it was sent
   */
  public record About(String resource, String namespace, String name, String path) {
    public static About of(String path) {
      return ResourcePath.parse(path)
          .map(parsed -> new About(
              parsed.group().isEmpty() ? parsed.plural() : parsed.plural() + "." + parsed.group(),
              parsed.namespace(), parsed.name(), path))
          .orElse(new About("", "", "", path));
    }
  }

  public static Asked of(ServerHttpRequest request) {
    var about = About.of(request.getPath().value());
    var query = new HashMap<String, String>();
    // One without a value is there all the same.
    request.getQueryParams().forEach(
        (name, values) -> query.put(name, Objects.requireNonNullElse(values.getFirst(), "")));
    boolean watch = Optional.ofNullable(query.get("watch")).filter(ReadParameters::isYes)
        .isPresent();
    var verb = about.resource().isEmpty()
        ? Verb.OTHER
        : Verb.of(request.getMethod().name(), about.name().isEmpty(), watch);
    var headers = new TreeMap<String, List<String>>(String.CASE_INSENSITIVE_ORDER);
    request.getHeaders().forEach((name, values) -> headers.put(name, List.copyOf(values)));
    var upgrade = request.getHeaders().getOrEmpty("Upgrade");
    var transport = upgrade.stream().anyMatch("websocket"::equalsIgnoreCase)
        ? Transport.WEBSOCKET
        : Transport.HTTP;
    return new Asked(verb, about, Map.copyOf(query), headers, transport);
  }

  /** A query parameter; empty if it was not sent. */
  public String parameter(String name) {
    return query.getOrDefault(name, "");
  }

  /** A header's first value; empty if it was not sent. */
  public String header(String name) {
    return headers.getOrDefault(name, List.of("")).getFirst();
  }

  /** The revision it names; empty if it names none. */
  public String resourceVersion() {
    return parameter("resourceVersion");
  }

  @Override
  public String toString() {
    return verb + " " + about.path() + (query.isEmpty() ? "" : " " + new TreeMap<>(query));
  }
}
