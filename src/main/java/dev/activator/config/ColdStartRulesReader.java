package dev.activator.config;

import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.ColdStartRules.ColdStartFallback;
import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import dev.activator.revision.ColdStartRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The reader of {@link ColdStartRules}, from fields of a ScaledService or from annotations.
 *
 * <p><b>Errors.</b> An invalid setting is ignored as a whole, and is listed in the problems of the
 * rules.
 */
public final class ColdStartRulesReader {
  public static final String DO_NOT_WAKE = "activator.dev/do-not-wake";
  public static final String FALLBACK = "activator.dev/fallback";
  public static final String IDLE_CONNECTIONS = "activator.dev/idle-connections";

  private static final Set<String> FIELDS = Set.of("doNotWake", "fallback",
      "idleConnections");
  private static final List<String> ANNOTATIONS = List.of(DO_NOT_WAKE, FALLBACK,
      IDLE_CONNECTIONS);
  private static final String IGNORE_AFTER = "ignore-after=";
  private static final int MAX_IGNORE_SECONDS = 86_400;
  private static final int MAX_RULES = 32;
  private static final int MAX_HEADERS = 8;
  private static final int MAX_TEXT_LENGTH = 1024;
  private static final int MAX_BODY_LENGTH = 4096;
  private static final int RETRY_AFTER_SECONDS = 10;
  private static final int MAX_RETRY_AFTER_SECONDS = 86_400;
  private static final Duration MAX_AFTER = Duration.ofMinutes(10);
  private static final Pattern AFTER = Pattern.compile("[0-9]{1,6}(ms|s|m)");
  private static final Pattern PATH = Pattern.compile("/[^?#]*");
  /** Headers that frame the body, or belong to the connection. */
  private static final Set<String> NOT_TO_SET = Set.of("connection", "content-length", "date",
      "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
      "k-activator-reason", "k-activator-pod");
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  /** Responses without a body. A body would be taken for the next response. */
  private static final Set<Integer> WITHOUT_BODY = Set.of(204, 205, 304);

  private final Map<String, Object> spec;
  private final Map<String, String> annotations;
  private final List<String> problems = new ArrayList<>();

  private ColdStartRulesReader(Map<String, Object> spec, Map<String, String> annotations) {
    this.spec = spec;
    this.annotations = annotations;
  }

  /** Whether this class reads a field of a ScaledService. */
  public static boolean reads(String field) {
    return FIELDS.contains(field);
  }

  /** @param spec fields of a ScaledService, which override annotations */
  public static @Nullable ColdStartRules read(Map<String, Object> spec,
      Map<String, String> annotations) {
    return spec.isEmpty() && ANNOTATIONS.stream().noneMatch(annotations::containsKey)
        ? null
        : new ColdStartRulesReader(spec, annotations).read();
  }

  private ColdStartRules read() {
    return new ColdStartRules(
        Objects.requireNonNull(read(this::doNotWake, List.of())),
        read(this::fallback, null), read(this::ignoreIdleAfter, null), problems);
  }

  private <T> @Nullable T read(Supplier<@Nullable T> setting, @Nullable T otherwise) {
    try {
      return setting.get();
    } catch (IllegalArgumentException e) {
      problems.add(String.valueOf(e.getMessage()));
      return otherwise;
    }
  }

  private @Nullable ColdStartFallback fallback() {
    var found = find("fallback", FALLBACK);
    if (found == null) {
      return null;
    }
    found.object("after", "service", "respond");
    var service = found.field("service").text(253);
    var respond = found.field("respond");
    if ((service == null) == respond.isAbsent()) {
      throw new IllegalArgumentException(found.path() + " needs either service or respond");
    }
    if (service != null && !SettingPreconditions.isName(service)) {
      throw found.field("service").mustBe("the name of one in the same namespace");
    }
    return new ColdStartFallback(after(found.field("after")), service,
        service == null ? withHeaders(respond) : null);
  }

  private static Duration after(ConfigValue after) {
    var text = after.text(MAX_TEXT_LENGTH);
    var length = text == null
        ? Duration.ZERO
        : AFTER.matcher(text).matches() ? GoDuration.parse(text) : null;
    if (length == null || length.compareTo(MAX_AFTER) > 0) {
      throw after.mustBe("a duration such as 500ms, 5s or 1m, at most 10m");
    }
    return length;
  }

  public static void addNew(String name, Set<String> names, ConfigValue header) {
    if (!names.add(name)) {
      throw header.field("name").mustBe("another header: this one is in the list already");
    }
  }

  private static ConfiguredResponse withHeaders(ConfigValue respond) {
    var answer = response(respond, 503, "status", "contentType", "body", "headers");
    var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    headers.putAll(answer.headers());
    var names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (var header : respond.field("headers").items(MAX_HEADERS)) {
      header.object("name", "value");
      var name = headerName(header.field("name"));
      var value = header.field("value").headerText(MAX_TEXT_LENGTH);
      if (NOT_TO_SET.contains(name.toLowerCase(Locale.ROOT))) {
        throw header.field("name").mustBe("another header: this one is the activator's");
      }
      if (value == null) {
        throw header.field("value").mustBe("text");
      }
      addNew(name, names, header);
      headers.put(name, value);
    }
    return new ConfiguredResponse(answer.status(), headers, answer.body());
  }

  private @Nullable Duration ignoreIdleAfter() {
    var field = spec.get("idleConnections");
    if (field != null) {
      int seconds = new ConfigValue("spec.idleConnections", field).object("ignoreAfterSeconds")
          .field("ignoreAfterSeconds").number(1, MAX_IGNORE_SECONDS, 0);
      return seconds == 0 ? null : Duration.ofSeconds(seconds);
    }
    var text = annotations.getOrDefault(IDLE_CONNECTIONS, "count").strip();
    if (text.equals("count")) {
      return null;
    }
    if (text.startsWith(IGNORE_AFTER)) {
      try {
        var after = GoDuration.parse(text.substring(IGNORE_AFTER.length()));
        if (after.toSeconds() >= 1 && after.toSeconds() <= MAX_IGNORE_SECONDS) {
          return after;
        }
      } catch (IllegalArgumentException _) {
        // Reported below, with other invalid values.
      }
    }
    throw new ConfigValue("annotation " + IDLE_CONNECTIONS, text)
        .mustBe("count, or ignore-after= with a duration from 1s to 24h");
  }

  private @Nullable ConfigValue find(String field, String annotation) {
    var value = spec.get(field);
    var text = annotations.get(annotation);
    return value != null
        ? new ConfigValue("spec." + field, value)
        : text == null ? null : ConfigValue.parse("annotation " + annotation, text);
  }

  private List<DoNotWakeRule> doNotWake() {
    var found = find("doNotWake", DO_NOT_WAKE);
    return found == null
        ? List.of()
        : found.items(MAX_RULES).stream().map(ColdStartRulesReader::rule).toList();
  }

  private static DoNotWakeRule rule(ConfigValue rule) {
    rule.object("path", "pathPrefix", "method", "headers", "userAgent", "respond", "refuse",
        "always");
    var path = text(rule, "path", "pathPrefix");
    if (path != null && !PATH.matcher(path.text()).matches()) {
      throw rule.field(path.prefix() ? "pathPrefix" : "path")
          .mustBe("a path that begins with / and has no query, which is not looked at");
    }
    var method = rule.field("method").text(MAX_TEXT_LENGTH);
    if (method != null && !TOKEN.matcher(method).matches()) {
      throw rule.field("method").mustBe("a method such as GET");
    }
    var headers = new ArrayList<DoNotWakeRule.Header>();
    rule.field("headers").items(MAX_HEADERS).forEach(one -> headers.add(header(one)));
    var agent = rule.field("userAgent").headerText(MAX_TEXT_LENGTH);
    if (agent != null) {
      headers.add(DoNotWakeRule.userAgent(agent));
    }
    if (path == null && method == null && headers.isEmpty()) {
      throw new IllegalArgumentException(rule.path()
          + " needs a condition: path, pathPrefix, method, headers or userAgent");
    }
    return new DoNotWakeRule(path, method, headers, answer(rule), rule.field("always").truth());
  }

  public static DoNotWakeRule.Header header(ConfigValue header) {
    header.object("name", "value", "valuePrefix");
    var value = text(header, "value", "valuePrefix");
    return new DoNotWakeRule.Header(headerName(header.field("name")),
        value == null ? new DoNotWakeRule.Text("", true) : value);
  }

  private static String headerName(ConfigValue name) {
    var text = name.text(MAX_TEXT_LENGTH);
    if (text == null || !TOKEN.matcher(text).matches()) {
      throw name.mustBe("the name of a header");
    }
    return text;
  }

  /** The condition on a text; null if neither field exists. */
  private static DoNotWakeRule.@Nullable Text text(ConfigValue of, String exact, String prefix) {
    var whole = of.field(exact).headerText(MAX_TEXT_LENGTH);
    var begin = of.field(prefix).headerText(MAX_TEXT_LENGTH);
    if (whole != null && begin != null) {
      throw new IllegalArgumentException(
          of.path() + " has both " + exact + " and " + prefix + ", but may have one");
    }
    if (begin != null) {
      return new DoNotWakeRule.Text(begin, true);
    }
    return whole == null ? null : new DoNotWakeRule.Text(whole, false);
  }

  private static ConfiguredResponse answer(ConfigValue rule) {
    var respond = rule.field("respond");
    var refuse = rule.field("refuse");
    if (respond.isAbsent() == refuse.isAbsent()) {
      throw new IllegalArgumentException(rule.path() + " needs either respond or refuse");
    }
    return respond.isAbsent()
        ? refusal(refuse)
        : response(respond, 200, "status", "contentType", "body");
  }

  private static ConfiguredResponse refusal(ConfigValue refuse) {
    int seconds = refuse.object("retryAfterSeconds").field("retryAfterSeconds").number(0,
        MAX_RETRY_AFTER_SECONDS, RETRY_AFTER_SECONDS);
    return new ConfiguredResponse(503, Map.of("Content-Type", "text/plain; charset=utf-8",
        "X-Content-Type-Options", "nosniff", "Retry-After", Integer.toString(seconds)),
        "this request does not start the service\n");
  }

  private static ConfiguredResponse response(ConfigValue respond, int otherwise, String... fields) {
    int status = respond.object(fields).field("status").number(200, 599, otherwise);
    var type = respond.field("contentType").headerText(MAX_TEXT_LENGTH);
    var body = respond.field("body").text(MAX_BODY_LENGTH);
    if (body != null && !body.isEmpty() && WITHOUT_BODY.contains(status)) {
      throw respond.field("body").mustBe("empty with the status " + status);
    }
    var headers = new TreeMap<String, String>();
    headers.put("Content-Type", type == null ? "text/plain; charset=utf-8" : type);
    return new ConfiguredResponse(status, headers, body == null ? "" : body);
  }
}
