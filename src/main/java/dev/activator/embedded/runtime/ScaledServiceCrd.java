package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.CustomResourceSchema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The CustomResourceDefinition of ScaledServices, which is the same as in the Helm chart. */
public final class ScaledServiceCrd {
  private static final String FILE = "/embedded/scaledservices.yaml";
  private static final Pattern HOST = Pattern.compile(
      "([*][.])?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*");
  private static final Pattern OTHER = Pattern.compile(
      "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?");
  private static final Pattern SERVER = Pattern.compile(
      "([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?[.])*[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
  private static final Pattern PATH = Pattern.compile("/[!-~]*");
  private static final Pattern AMBIGUOUS = Pattern.compile("//|/[.][.]?(/|$)|%2[fF]|[?#]");
  private static final Pattern TIME = Pattern.compile("([01][0-9]|2[0-3]):[0-5][0-9]");
  private static final Pattern LENGTH = Pattern.compile("[0-9]{1,6}(ms|s|m)");
  private static final Pattern NAME_OR_NONE = Pattern.compile("[A-Za-z0-9._~-]*");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._~-]+");
  private static final Set<Integer> WITHOUT_BODY = Set.of(204, 205, 304);
  private static final Map<String, BiPredicate<JsonNode, @Nullable JsonNode>> RULES = Map.ofEntries(
      Map.entry("!has(self.maxReplicas) || self.maxReplicas >= self.minReplicas",
          (spec, _) -> !spec.has("maxReplicas")
              || spec.path("maxReplicas").asInt() >= spec.path("minReplicas").asInt()),
      Map.entry("has(self.maxReplicas) || self.minReplicas <= 1",
          (spec, _) -> spec.has("maxReplicas") || spec.path("minReplicas").asInt() <= 1),
      Map.entry("!has(self.rules) || !has(self.hosts) || size(self.rules) == 0"
          + " || size(self.hosts) == 0 || self.rules.exists(rule, !has(rule.hosts))",
          (spec, _) -> spec.path("rules").isEmpty() || spec.path("hosts").isEmpty()
              || spec.path("rules").valueStream().anyMatch(rule -> !rule.has("hosts"))),
      Map.entry("self.containerConcurrency == 0 || !has(self.rules) || self.rules.all(rule,"
          + " !has(rule.serviceRef) || rule.serviceRef.port == self.serviceRef.port)",
          (spec, _) -> !isLimited(spec)
              || spec.path("rules").valueStream().allMatch(rule -> !rule.has("serviceRef")
                  || rule.at("/serviceRef/port").equals(spec.at("/serviceRef/port")))),
      Map.entry("has(self.serviceRef.port) || (has(self.ports) && size(self.ports) > 0)",
          (spec, _) -> isHttp(spec) || !spec.path("ports").isEmpty()),
      Map.entry("has(self.serviceRef.port) || ((!has(self.hosts) || size(self.hosts) == 0)"
          + " && (!has(self.rules) || size(self.rules) == 0))",
          (spec, _) -> isHttp(spec)
              || spec.path("hosts").isEmpty() && spec.path("rules").isEmpty()),
      Map.entry("!has(self.closeIdle) || !self.closeIdle || has(self.idleAfterSeconds)",
          (port, _) -> !port.path("closeIdle").asBoolean(false) || port.has("idleAfterSeconds")),
      Map.entry("self.containerConcurrency == 0 || !has(self.ports) || size(self.ports) == 0"
          + " || (size(self.ports) == 1 && !has(self.serviceRef.port))",
          (spec, _) -> !isLimited(spec) || spec.path("ports").isEmpty()
              || spec.path("ports").size() == 1 && !isHttp(spec)),
      Map.entry("self.matches('^" + PATH.pattern() + "$') && !self.matches('"
          + AMBIGUOUS.pattern() + "')",
          (path, _) -> PATH.matcher(path.asString("")).matches()
              && !AMBIGUOUS.matcher(path.asString("")).find()),
      Map.entry(
          "self.containerConcurrency > 0 || (has(self.target) && (has(self.target.concurrency)"
              + " || has(self.target.requestsPerSecond)))",
          (spec, _) -> isLimited(spec) || spec.path("target").has("concurrency")
              || spec.path("target").has("requestsPerSecond")),
      Map.entry("!has(self.affinity) || !has(self.affinity.mode)"
          + " || self.affinity.mode != \"exclusive\" || (has(self.target)"
          + " && has(self.target.concurrency) && self.target.concurrency == 1)",
          (spec, _) -> !isExclusive(spec) || spec.at("/target/concurrency").asInt(0) == 1),
      Map.entry("!has(self.affinity) || !has(self.affinity.mode)"
          + " || self.affinity.mode != \"exclusive\" || (!has(self.ports) && (!has(self.rules)"
          + " || self.rules.all(rule, !has(rule.serviceRef))))",
          (spec, _) -> !isExclusive(spec) || !spec.has("ports")
              && spec.path("rules").valueStream().noneMatch(rule -> rule.has("serviceRef"))),
      Map.entry("!has(self.target) || !has(self.target.queueMilliseconds)"
          + " || self.containerConcurrency > 0",
          (spec, _) -> !spec.path("target").has("queueMilliseconds") || isLimited(spec)),
      Map.entry("has(self.concurrency) || has(self.requestsPerSecond)"
          + " || has(self.queueMilliseconds)",
          (target, _) -> Stream.of("concurrency", "requestsPerSecond", "queueMilliseconds")
              .anyMatch(target::has)),
      Map.entry("has(self.scaleTargetRef) != has(self.wake)",
          (spec, _) -> spec.has("scaleTargetRef") != spec.has("wake")),
      Map.entry("has(self.wake) == has(oldSelf.wake)",
          (spec, before) -> before == null || spec.has("wake") == before.has("wake")),
      Map.entry("!has(self.wake) || !has(self.maxReplicas)",
          (spec, _) -> !spec.has("wake") || !spec.has("maxReplicas")),
      Map.entry("!has(self.spec.conflictsWith)"
          + " || !(self.metadata.name in self.spec.conflictsWith)",
          (object, _) -> object.at("/spec/conflictsWith").valueStream()
              .noneMatch(name -> name.equals(object.at("/metadata/name")))),
      Map.entry("!has(self.idle) || !has(self.wake)",
          (spec, _) -> !spec.has("idle") || !spec.has("wake")),
      Map.entry("!has(self.idle) || !self.catchService",
          (spec, _) -> !spec.has("idle") || !spec.path("catchService").asBoolean(false)),
      Map.entry("!has(self.idle) || !has(self.ports) || size(self.ports) == 0",
          (spec, _) -> !spec.has("idle") || spec.path("ports").isEmpty()),
      Map.entry("!has(self.idle) || !has(self.tls) || self.idle.do != \"sleep\"",
          (spec, _) -> !spec.has("tls") || !isSlept(spec.path("idle"))),
      Map.entry("self.do == \"sleep\" || !has(self.sleep)",
          (idle, _) -> isSlept(idle) || !idle.has("sleep")),
      Map.entry("self.apiVersion == oldSelf.apiVersion && self.kind == oldSelf.kind"
          + " && self.name == oldSelf.name",
          (object, before) -> before == null || Stream.of("apiVersion", "kind", "name")
              .allMatch(field -> object.path(field).equals(before.path(field)))),
      Map.entry("has(self.patch) != has(self.http)",
          (wake, _) -> wake.has("patch") != wake.has("http")),
      Map.entry("has(self.patch) == has(oldSelf.patch)",
          (wake, before) -> before == null || wake.has("patch") == before.has("patch")),
      Map.entry("self.start.url == oldSelf.start.url",
          (http, before) -> before == null
              || http.at("/start/url").equals(before.at("/start/url"))),
      Map.entry("self.matches('^https?://[!-?A-~]+$')",
          (url, _) -> url.asString("").matches("https?://[!-?A-~]+")),
      Map.entry("self.matches('^[^/%]+$') && self != '.' && self != '..'",
          (name, _) -> !name.asString("").matches("[.]{1,2}|.*[/%].*|")),
      Map.entry("self == oldSelf", (now, before) -> before == null || now.equals(before)),
      Map.entry("self.matches('^" + HOST.pattern() + "$')",
          (host, _) -> HOST.matcher(host.asString("")).matches()),
      Map.entry("self.matches('^" + OTHER.pattern() + "$')",
          (name, _) -> OTHER.matcher(name.asString("")).matches()),
      Map.entry("self.matches('^" + SERVER.pattern() + "$')",
          (name, _) -> SERVER.matcher(name.asString("")).matches()),
      Map.entry("has(self.caCertificateRefs) != has(self.wellKnownCACertificates)",
          (tls, _) -> tls.has("caCertificateRefs") != tls.has("wellKnownCACertificates")),
      Map.entry("!has(self.wellKnownCACertificates) || has(self.hostname)",
          (tls, _) -> !tls.has("wellKnownCACertificates") || tls.has("hostname")),
      Map.entry("has(self.path) || has(self.pathPrefix) || has(self.method) || has(self.headers)"
          + " || has(self.userAgent)",
          (rule, _) -> Stream.of("path", "pathPrefix", "method", "headers", "userAgent")
              .anyMatch(rule::has)),
      Map.entry("!(has(self.path) && has(self.pathPrefix))",
          (rule, _) -> !rule.has("path") || !rule.has("pathPrefix")),
      Map.entry("self.matches('^" + TIME.pattern() + "$')",
          (time, _) -> TIME.matcher(time.asString("")).matches()),
      Map.entry("has(self.service) != has(self.respond)",
          (fallback, _) -> fallback.has("service") != fallback.has("respond")),
      Map.entry("self.matches('^" + LENGTH.pattern() + "$')",
          (length, _) -> LENGTH.matcher(length.asString("")).matches()),
      Map.entry(
          "(has(self.header) ? 1 : 0) + (has(self.cookie) ? 1 : 0) + (has(self.query) ? 1 : 0)"
              + " == 1",
          (affinity, _) -> Stream.of("header", "cookie", "query").filter(affinity::has)
              .count() == 1),
      Map.entry("!has(self.onPodGone) || self.onPodGone == \"another\" || (has(self.mode)"
          + " && self.mode == \"strict\")",
          (affinity, _) -> !affinity.path("onPodGone").asString("").equals("reject")
              || affinity.path("mode").asString("").equals("strict")),
      Map.entry("!has(self.onPodGone) || self.onPodGone == \"another\" || !has(self.cookie)"
          + " || self.cookie != \"\"",
          (affinity, _) -> !affinity.path("onPodGone").asString("").equals("reject")
              || !affinity.has("cookie") || !affinity.path("cookie").asString("").isEmpty()),
      Map.entry("self.matches('^" + NAME.pattern() + "$')",
          (name, _) -> NAME.matcher(name.asString("")).matches()),
      Map.entry("self.matches('^" + NAME_OR_NONE.pattern() + "$')",
          (name, _) -> NAME_OR_NONE.matcher(name.asString("")).matches()),
      Map.entry("has(self.respond) != has(self.refuse)",
          (rule, _) -> rule.has("respond") != rule.has("refuse")),
      Map.entry("!(has(self.value) && has(self.valuePrefix))",
          (header, _) -> !header.has("value") || !header.has("valuePrefix")),
      Map.entry("!has(self.status) || !(self.status in [204, 205, 304]) || !has(self.body)"
          + " || size(self.body) == 0",
          (answer, _) -> !WITHOUT_BODY.contains(answer.path("status").asInt(0))
              || answer.path("body").asString("").isEmpty()));

  private ScaledServiceCrd() {}

  private static boolean isHttp(JsonNode spec) {
    return spec.path("serviceRef").has("port");
  }

  private static boolean isSlept(JsonNode idle) {
    return idle.path("do").asString("").equals("sleep");
  }

  private static boolean isExclusive(JsonNode spec) {
    return spec.at("/affinity/mode").asString("").equals("exclusive");
  }

  private static boolean isLimited(JsonNode spec) {
    return spec.path("containerConcurrency").asInt() > 0;
  }

  /**
   * Creates the definition in a store. From then on, the store sets defaults and refuses invalid
   * objects, like a cluster.
   */
  public static void createIn(ApiStore store) {
    var definition = definition();
    var schema = schema(definition);
    store.create(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION, definition);
    var kind = of(store);
    store.onUnknownFields(kind, schema::unknown);
    store.onAdmission(kind, object -> schema.admit(object, store.stored(kind, object)));
  }

  /** The schema of the first version. */
  static CustomResourceSchema schema(ObjectNode definition) {
    return new CustomResourceSchema(definition, RULES);
  }

  public static Kind of(ApiStore store) {
    return store.kinds().at("activator.dev", "v1alpha1", "scaledservices").orElseThrow();
  }

  static ObjectNode definition() {
    try (var file = ScaledServiceCrd.class.getResourceAsStream(FILE)) {
      return (ObjectNode) YAMLMapper.builder().build()
          .readTree(Objects.requireNonNull(file, FILE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
