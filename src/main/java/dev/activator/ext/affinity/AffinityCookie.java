package dev.activator.ext.affinity;

import dev.activator.ext.affinity.policy.AffinityKey;
import dev.activator.revision.Destination;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The activator's own cookie: a random key, the pod that it belongs to, and a signature. A caller can
 * neither make one nor read the pod from it. Nothing is kept of a cookie before it comes back.
 *
 * <p><b>Threads.</b> Any.
 */
final class AffinityCookie {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int KEY_BYTES = 16;
  private static final int SIGNED_BYTES = KEY_BYTES + Long.BYTES;
  private static final int SIGNATURE_BYTES = 16;

  /** What a cookie says of its pod. */
  record Session(long podId) {
    boolean isAt(Destination pod) {
      return idOf(pod) == podId;
    }

    private static long idOf(Destination pod) {
      return AffinityKey.of(pod.toString()).high();
    }
  }

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

  /** A new value, for a session that begins at this pod. */
  String next(Destination pod) {
    var key = new byte[KEY_BYTES];
    random.nextBytes(key);
    var signed = ByteBuffer.allocate(SIGNED_BYTES).put(key).putLong(Session.idOf(pod) ^ mask(key))
        .array();
    var value = ByteBuffer.allocate(SIGNED_BYTES + SIGNATURE_BYTES).put(signed)
        .put(signature(signed)).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(value);
  }

  /** Null if no activator with this secret has made the value. */
  @Nullable Session read(String value) {
    try {
      var bytes = Base64.getUrlDecoder().decode(value);
      if (bytes.length != SIGNED_BYTES + SIGNATURE_BYTES
          || !MessageDigest.isEqual(signature(Arrays.copyOf(bytes, SIGNED_BYTES)),
              Arrays.copyOfRange(bytes, SIGNED_BYTES, bytes.length))) {
        return null;
      }
      long pod = ByteBuffer.wrap(bytes).getLong(KEY_BYTES);
      return new Session(pod ^ mask(Arrays.copyOf(bytes, KEY_BYTES)));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Hides the pod. Two cookies of one pod have nothing in common. */
  private long mask(byte[] key) {
    return ByteBuffer.wrap(hmac(key)).getLong();
  }

  private byte[] signature(byte[] signed) {
    return Arrays.copyOf(hmac(signed), SIGNATURE_BYTES);
  }

  private byte[] hmac(byte[] bytes) {
    try {
      var mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      return mac.doFinal(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** @param secure whether the caller uses TLS */
  static String header(String name, String value, boolean secure) {
    return name + "=" + value + "; Path=/; HttpOnly; SameSite=Lax" + (secure ? "; Secure" : "");
  }
}
