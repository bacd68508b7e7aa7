package dev.activator.ext.actuators;

import dev.activator.config.ConfigValue;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import okhttp3.HttpUrl;

/**
 * What is started and stopped by requests to URLs.
 *
 * @param timeout how long one request may take
 */
record HttpTarget(Call start, Call stop, Duration timeout) implements ScaleTarget {
  private static final int DEFAULT_SECONDS = 5;
  /** Shorter than it takes until another activator scales instead of one that has crashed. */
  private static final int MAX_SECONDS = 10;
  private static final int MAX_HEADERS = 8;
  private static final int MAX_LENGTH = 253;
  private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE");
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  /** Those that say how a request is sent, and to which host. */
  private static final Pattern RESERVED = Pattern.compile("host|content-length|transfer-encoding"
      + "|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*");
  /** One part of the path in the API. */
  private static final Pattern OBJECT_NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]*[a-z0-9])?");
  private static final Pattern KEY = Pattern.compile("[-._a-zA-Z0-9]+");

  record Call(String method, HttpUrl url, List<SecretHeader> headers) {
    Call {
      headers = List.copyOf(headers);
    }

    /** Without the query, which may have a secret. */
    @Override
    public String toString() {
      return method + " " + shown(url);
    }
  }

  /**
   * A header whose value is in a Secret of the ScaledService's namespace.
   *
   * @param secret the name of the Secret
   */
  record SecretHeader(String name, String secret, String key) {}

  /**
   * Reads {@code spec.wake.http}. Messages do not quote URLs, which may have secrets.
   *
   * @throws IllegalArgumentException a sentence with the part that is invalid
   */
  static HttpTarget read(ConfigValue spec) {
    spec.object("start", "stop", "timeoutSeconds");
    return new HttpTarget(call(spec.field("start")), call(spec.field("stop")), Duration.ofSeconds(
        spec.field("timeoutSeconds").number(1, MAX_SECONDS, DEFAULT_SECONDS)));
  }

  private static Call call(ConfigValue call) {
    call.object("url", "method", "headersFrom");
    var method = Objects.requireNonNullElse(call.field("method").text(MAX_LENGTH), "POST");
    if (!METHODS.contains(method)) {
      throw call.field("method").mustBe("GET, POST, PUT, PATCH or DELETE");
    }
    var url = call.field("url");
    if (!(url.value() instanceof String text)) {
      throw url.mustBe("a URL");
    }
    return new Call(method, WakeUrl.parse(url.path(), text),
        call.field("headersFrom").items(MAX_HEADERS).stream().map(HttpTarget::header).toList());
  }

  private static SecretHeader header(ConfigValue header) {
    header.object("name", "secretKeyRef");
    var ref = header.field("secretKeyRef").object("name", "key");
    var name = text(header.field("name"), NAME, "the name of a header");
    if (RESERVED.matcher(name.toLowerCase(Locale.ROOT)).matches()) {
      throw new IllegalArgumentException(header.path() + ".name may not be " + name
          + ", which the activator sets itself");
    }
    return new SecretHeader(name, text(ref.field("name"), OBJECT_NAME, "the name of a Secret"),
        text(ref.field("key"), KEY, "a key of a Secret"));
  }

  private static String text(ConfigValue field, Pattern form, String expected) {
    var text = field.text(MAX_LENGTH);
    if (text == null || !form.matcher(text).matches()) {
      throw field.mustBe(expected);
    }
    return text;
  }

  @Override
  public String startedBy() {
    return "http";
  }

  @Override
  public String kind() {
    return "URL";
  }

  @Override
  public String name() {
    return shown(start.url);
  }

  private static String shown(HttpUrl url) {
    return url.newBuilder().query(null).toString();
  }

  /** Such as {@code URL https://machines.example.com/web/start}. */
  @Override
  public String toString() {
    return kind() + " " + name();
  }
}
