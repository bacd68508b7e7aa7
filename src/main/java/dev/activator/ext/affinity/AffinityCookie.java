package dev.activator.ext.affinity;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The activator's own cookie: a random key with a signature. It says nothing about pods, and a caller
 * cannot make one.
 *
 * <p><b>Threads.</b> Any.
 */
final class AffinityCookie {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int KEY_BYTES = 16;
  private static final int SIGNATURE_BYTES = 16;

  private final SecretKeySpec secret;
  private final SecureRandom random = new SecureRandom();

  /** @param secret the same for all activators; if it is empty, a random one is made */
  AffinityCookie(String secret) {
    var bytes = secret.getBytes(StandardCharsets.UTF_8);
    if (bytes.length == 0) {
      bytes = new byte[2 * SIGNATURE_BYTES];
      random.nextBytes(bytes);
    }
    this.secret = new SecretKeySpec(bytes, ALGORITHM);
  }

  /** A new value. */
  String next() {
    var key = new byte[KEY_BYTES];
    random.nextBytes(key);
    var value = Arrays.copyOf(key, KEY_BYTES + SIGNATURE_BYTES);
    System.arraycopy(signature(key), 0, value, KEY_BYTES, SIGNATURE_BYTES);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(value);
  }

  /** Whether an activator with this secret has made the value. */
  boolean isOurs(String value) {
    try {
      var bytes = Base64.getUrlDecoder().decode(value);
      return bytes.length == KEY_BYTES + SIGNATURE_BYTES && MessageDigest.isEqual(
          signature(Arrays.copyOf(bytes, KEY_BYTES)),
          Arrays.copyOfRange(bytes, KEY_BYTES, bytes.length));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private byte[] signature(byte[] key) {
    try {
      var mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      return Arrays.copyOf(mac.doFinal(key), SIGNATURE_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** @param secure whether the caller uses TLS */
  static String header(String name, String value, boolean secure) {
    return name + "=" + value + "; Path=/; HttpOnly; SameSite=Lax" + (secure ? "; Secure" : "");
  }
}
