package dev.activator.embedded.runtime.serving;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What the objects of a revision are called.
 *
 * <p>
 * <b>Source.</b> {@code kmeta.ChildName} in {@code knative.dev/pkg}.
 */
public final class Names {
  private static final int LONGEST = 63;
  private static final String PRIVATE = "-private";
  private static final String DEPLOYMENT = "-deployment";

  private Names() {}

  /** {@code hello-00001} for the first of {@code hello}. */
  public static String revision(String service, int number) {
    return child(service, "-%05d".formatted(number));
  }

  public static String deployment(String revision) {
    return child(revision, DEPLOYMENT);
  }

  /** Of the private Service and its Endpoints. */
  public static String privateService(String revision) {
    return child(revision, PRIVATE);
  }

  /** Parent and suffix; where that is too long for a label, a digest stands for the parent's end. */
  private static String child(String parent, String suffix) {
    if (parent.length() + suffix.length() <= LONGEST) {
      return parent + suffix;
    }
    String digest = HexFormat.of().formatHex(digest("MD5", parent));
    return parent.substring(0, LONGEST - digest.length() - suffix.length()) + digest + suffix;
  }

  /** A short text that differs where the long one does. */
  static String fingerprint(String text) {
    return HexFormat.of().formatHex(digest("SHA-256", text)).substring(0, 32);
  }

  private static byte[] digest(String algorithm, String text) {
    try {
      return MessageDigest.getInstance(algorithm).digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException everyJavaHasIt) {
      throw new IllegalStateException(everyJavaHasIt);
    }
  }
}
