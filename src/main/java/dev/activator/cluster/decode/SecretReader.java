package dev.activator.cluster.decode;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The activators' certificate in a Secret. Of any other Secret nothing is kept.
 *
 * <p>
 * <b>Errors.</b> A {@link MalformedException} names what is wrong, and never quotes it.
 */
public final class SecretReader {
  /** The one secret that is read. */
  public static final String NAME = "routing-serving-certs";
  private static final String DATA = "data";

  private SecretReader() {}

  public static @Nullable RoutingCertificate read(Field object, List<String> remarks) {
    if (!NAME.equals(object.at("metadata").at("name").textOrEmpty())) {
      return null;
    }
    return new RoutingCertificate(text(object, "tls.crt"), text(object, "tls.key"),
        text(object, "ca.crt"));
  }

  private static String text(Field object, String key) {
    var data = object.value().path(DATA);
    if (!data.path(key).isTextual()) {
      throw new MalformedException(DATA + "." + key + " is missing");
    }
    try {
      return new String(Base64.getDecoder().decode(data.path(key).textValue()),
          StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      throw new MalformedException(DATA + "." + key + " is not in base64");
    }
  }
}
