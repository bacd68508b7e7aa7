package dev.activator.revision;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Derives the name of a child object from the name of its parent and a suffix, as Knative does. If
 * that is longer than 63 characters, the parent's name is cut, and its MD5 hash is put before the
 * suffix to keep the result unique.
 *
 * <p><b>Source.</b> {@code ChildName} in {@code knative.dev/pkg/kmeta/names.go}.
 */
public final class ChildName {
  private static final int MAX_LENGTH = 63;
  private static final int HASH_LENGTH = 32;

  private ChildName() {}

  public static String of(String parent, String suffix) {
    if (parent.length() + suffix.length() <= MAX_LENGTH) {
      return parent + suffix;
    }
    return parent.substring(0, MAX_LENGTH - HASH_LENGTH - suffix.length()) + md5(parent) + suffix;
  }

  public static String ofPrivateService(String revision) {
    return of(revision, "-private");
  }

  private static String md5(String text) {
    try {
      var digest = MessageDigest.getInstance("MD5");
      return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has MD5", e);
    }
  }
}
