package dev.activator.embedded.runtime;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What the objects of a revision are called, and their labels.
 *
 * <p>
 * <b>Source.</b> {@code pkg/apis/serving/register.go} in Knative Serving; {@code kmeta/names.go} in
 * Knative's pkg.
 */
final class Names {
  static final String SERVICE = "serving.knative.dev/service";
  static final String CONFIGURATION = "serving.knative.dev/configuration";
  static final String GENERATION = "serving.knative.dev/configurationGeneration";
  static final String REVISION = "serving.knative.dev/revision";
  static final String REVISION_UID = "serving.knative.dev/revisionUID";
  static final String SERVICE_TYPE = "networking.internal.knative.dev/serviceType";
  static final String SERVERLESS_SERVICE = "networking.internal.knative.dev/serverlessservice";
  /** An annotation of revisions: the fingerprint of the template they were made of. */
  static final String TEMPLATE = "activator.dev/template";

  private static final String PRIVATE = "-private";
  private static final int MAX_LENGTH = 63;
  private static final int HASH_LENGTH = 32;

  private Names() {}

  static String deployment(String revision) {
    return revision + "-deployment";
  }

  /** A name that stays a valid one however long the revision's is. */
  static String privateService(String revision) {
    if (revision.length() <= MAX_LENGTH - PRIVATE.length()) {
      return revision + PRIVATE;
    }
    return revision.substring(0, MAX_LENGTH - HASH_LENGTH - PRIVATE.length())
        + hash("MD5", revision) + PRIVATE;
  }

  /** A digest in hexadecimal digits. */
  static String hash(String algorithm, String text) {
    try {
      var digest = MessageDigest.getInstance(algorithm);
      return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has " + algorithm, e);
    }
  }
}
