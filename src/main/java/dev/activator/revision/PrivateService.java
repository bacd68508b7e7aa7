package dev.activator.revision;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The name of the Service in front of a revision's own pods.
 *
 * <p>
 * <b>Source.</b> {@code ChildName} in {@code knative.dev/pkg/kmeta/names.go}: a name of Kubernetes has
 * at most 63 characters, so a long parent is cut and told apart by its MD5.
 */
public final class PrivateService {
  private static final String SUFFIX = "-private";
  private static final int LONGEST = 63;
  private static final int HASH_LENGTH = 32;

  private PrivateService() {}

  /** The name for a revision of this name; the namespace is the revision's own. */
  public static String nameOf(String revision) {
    if (revision.length() + SUFFIX.length() <= LONGEST) {
      return revision + SUFFIX;
    }
    return revision.substring(0, LONGEST - HASH_LENGTH - SUFFIX.length()) + md5(revision) + SUFFIX;
  }

  private static String md5(String text) {
    try {
      var digest = MessageDigest.getInstance("MD5");
      return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("every Java platform has MD5", absent);
    }
  }
}
