package dev.activator.discovery.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.tls.CertificateListener.RoutingCertificate;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the Secret with the data plane's certificate. It ignores all other Secrets.
 *
 * <p><b>Errors.</b> Messages never quote a value.
 */
public final class RoutingCertificateReader implements WatchedObjectReader<RoutingCertificate> {
  public static final String NAME = "routing-serving-certs";
  private static final String CHAIN = "tls.crt";
  private static final String KEY = "tls.key";
  private static final String AUTHORITIES = "ca.crt";

  private final Map<String, String> data = new HashMap<>();

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("data")) {
      for (var field : in.fields()) {
        if (in.isText()) {
          data.put(field, in.text());
        }
      }
    }
  }

  @Override
  public boolean concerns(DecodedMetadata metadata) {
    return metadata.name().equals(NAME);
  }

  @Override
  public @Nullable RoutingCertificate decoded(DecodedMetadata metadata, JsonCursor in) {
    var authorities = data.containsKey(AUTHORITIES) ? text(AUTHORITIES, in) : "";
    return new RoutingCertificate(text(CHAIN, in), text(KEY, in), authorities);
  }

  private String text(String key, JsonCursor in) {
    var encoded = data.get(key);
    if (encoded == null) {
      in.problem("data." + key + " is missing");
      return "";
    }
    try {
      return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      in.problem("data." + key + " is not in base64");
      return "";
    }
  }
}
