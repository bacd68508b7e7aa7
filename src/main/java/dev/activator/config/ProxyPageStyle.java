package dev.activator.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Objects;

/** The style of the pages that the activator itself answers with: the waiting page, and refusals. */
public final class ProxyPageStyle {
  private static final String STYLE = resource("page.css");
  public static final String ELEMENT = "<style>" + STYLE + "</style>";
  /** For {@code style-src} of a content policy. */
  public static final String HASH = hash(STYLE);

  private ProxyPageStyle() {}

  /** A file of the waiting page. */
  public static String resource(String name) {
    try (var file = ProxyPageStyle.class.getResourceAsStream("/waiting-page/" + name)) {
      return new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static String hash(String text) {
    try {
      return "'sha256-" + Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256")
          .digest(text.getBytes(StandardCharsets.UTF_8))) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
