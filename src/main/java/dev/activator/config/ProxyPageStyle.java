package dev.activator.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Objects;

/** The style of the activator's own pages: the waiting page and error pages. */
public final class ProxyPageStyle {
  private static final String STYLE = resource("page.css");
  public static final String ELEMENT = "<style>" + STYLE + "</style>";
  /** The hash for {@code style-src} of a content security policy. */
  public static final String HASH = hash(STYLE);

  private ProxyPageStyle() {}

  /** Reads a file of the waiting page. */
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
