package dev.activator.kube.reflector;

import dev.activator.tls.PemCertificates;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a plugin printed: a token, a certificate with its key, or both.
 *
 * @param chain in base64; null if there is none
 * @param key in base64; null if there is none
 * @param renewal from when the plugin is run again; {@link Instant#MAX} if it has no end
 */
record ExecCredential(@Nullable String token, @Nullable String chain, @Nullable String key,
    Instant renewal) {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  /** A credential is renewed in the last tenth of its life, at most a minute before its end. */
  private static final int PART = 10;
  private static final Duration EARLY = Duration.ofMinutes(1);
  /** A plugin that prints what has ended already is run at most once in this time. */
  private static final Duration MIN_LIFE = Duration.ofSeconds(1);

  /** @throws IllegalArgumentException if it is no credential; the message quotes none of it */
  static ExecCredential parse(String printed, String apiVersion, Instant now) {
    var object = object(printed);
    if (!"ExecCredential".equals(text(object, "kind"))) {
      throw new IllegalArgumentException("it printed no ExecCredential");
    }
    if (!apiVersion.equals(text(object, "apiVersion"))) {
      throw new IllegalArgumentException(
          "it answered in another apiVersion than " + apiVersion + " of the kubeconfig");
    }
    var status = object.path("status");
    var token = text(status, "token");
    var chain = text(status, "clientCertificateData");
    var key = text(status, "clientKeyData");
    if ((chain == null) != (key == null)) {
      throw new IllegalArgumentException("it printed a "
          + (chain == null ? "key without its certificate" : "certificate without its key"));
    }
    if (token == null && chain == null) {
      throw new IllegalArgumentException("it printed neither a token nor a certificate");
    }
    var end = end(text(status, "expirationTimestamp"));
    if (chain != null) {
      var last = notAfter(chain);
      end = last.isBefore(end) ? last : end;
    }
    return new ExecCredential(token, base64(chain), base64(key), renewal(now, end));
  }

  private static JsonNode object(String printed) {
    try {
      return JSON.readTree(printed);
    } catch (JacksonException e) {
      // The cause quotes what was printed, which may be a token.
      throw new IllegalArgumentException("it printed something else than JSON");
    }
  }

  private static @Nullable String text(JsonNode object, String field) {
    var value = object.path(field);
    return value.isString() && !value.stringValue().isEmpty() ? value.stringValue() : null;
  }

  private static Instant end(@Nullable String timestamp) {
    try {
      return timestamp == null ? Instant.MAX : OffsetDateTime.parse(timestamp).toInstant();
    } catch (DateTimeException e) {
      throw new IllegalArgumentException("its expirationTimestamp is no time of RFC 3339");
    }
  }

  private static Instant notAfter(String chain) {
    try {
      return PemCertificates.certificates(chain).getFirst().getNotAfter().toInstant();
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("its certificate cannot be read: " + e.getMessage());
    }
  }

  private static @Nullable String base64(@Nullable String pem) {
    return pem == null
        ? null
        : Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
  }

  private static Instant renewal(Instant now, Instant end) {
    if (end.equals(Instant.MAX)) {
      return end;
    }
    var part = Duration.between(now, end).dividedBy(PART);
    var early = end.minus(part.compareTo(EARLY) < 0 ? part : EARLY);
    var earliest = now.plus(MIN_LIFE);
    return early.isBefore(earliest) ? earliest : early;
  }
}
