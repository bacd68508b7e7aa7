package dev.activator.standalone.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.standalone.policy.CaObject;
import dev.activator.tls.PemCertificates;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Reads the certificates in a ConfigMap or Secret. Private keys are not kept. */
final class CaObjectReader implements WatchedObjectReader<CaObject.Found> {
  private final UnaryOperator<String> decoding;
  private final Map<String, CaObject.Certificates> keys = new HashMap<>(2);

  private CaObjectReader(UnaryOperator<String> decoding) {
    this.decoding = decoding;
  }

  static CaObjectReader ofConfigMap() {
    return new CaObjectReader(text -> text);
  }

  static CaObjectReader ofSecret() {
    return new CaObjectReader(CaObjectReader::decoded);
  }

  /** The text of a value in base64; empty if it is none. */
  private static String decoded(String base64) {
    try {
      return new String(Base64.getDecoder().decode(base64), StandardCharsets.ISO_8859_1);
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("data")) {
      in.texts().forEach((key, value) -> keys.put(key, certificates(decoding.apply(value))));
    }
  }

  private static CaObject.Certificates certificates(String text) {
    var read = PemCertificates.read(text);
    return new CaObject.Certificates(read.certificates().stream()
        .map(one -> new CaObject.Certificate(PemCertificates.text(List.of(one)),
            one.getNotAfter().toInstant()))
        .toList(), read.isBroken());
  }

  @Override
  public CaObject.Found decoded(DecodedMetadata metadata, JsonCursor in) {
    return new CaObject.Found(keys);
  }
}
