package dev.activator.tls;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;

/**
 * Private keys in PEM as the many tools that make certificates write them, brought into the one form
 * that Java reads.
 *
 * <p>
 * <b>Source.</b> RFC 5958 (PKCS#8) around RFC 8017 (PKCS#1, for RSA) or RFC 5915 (SEC 1, for elliptic
 * curves).
 */
final class PrivateKeys {
  private static final String RSA = "RSA PRIVATE KEY";
  private static final String EC = "EC PRIVATE KEY";
  private static final byte[] VERSION = hex("020100");
  private static final byte[] RSA_ALGORITHM = hex("300d06092a864886f70d0101010500");
  private static final byte[] EC_PUBLIC_KEY = hex("06072a8648ce3d0201");
  private static final int SEQUENCE = 0x30;
  private static final int OCTETS = 0x04;
  private static final int CURVE = 0xa0;

  private PrivateKeys() {}

  /** The key in PKCS#8, as PEM. */
  static byte[] parse(String pem) {
    byte[] pkcs8;
    if (pem.contains(begin(RSA))) {
      pkcs8 = wrap(RSA_ALGORITHM, der(pem, RSA));
    } else if (pem.contains(begin(EC))) {
      byte[] key = der(pem, EC);
      pkcs8 = wrap(element(SEQUENCE, EC_PUBLIC_KEY, curve(key)), key);
    } else {
      return pem.getBytes(StandardCharsets.US_ASCII);
    }
    return (begin("PRIVATE KEY") + "\n" + Base64.getMimeEncoder().encodeToString(pkcs8)
        + "\n-----END PRIVATE KEY-----\n").getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] wrap(byte[] algorithm, byte[] key) {
    return element(SEQUENCE, VERSION, algorithm, element(OCTETS, key));
  }

  /** The name of the curve, which stands behind the number that is the key. */
  private static byte[] curve(byte[] key) {
    int at = headBytes(key, 0);
    while (at < key.length) {
      int head = headBytes(key, at);
      int length = length(key, at);
      if ((key[at] & 0xff) == CURVE) {
        return Arrays.copyOfRange(key, at + head, at + head + length);
      }
      at += head + length;
    }
    throw new IllegalArgumentException("the key names no curve");
  }

  private static int headBytes(byte[] der, int at) {
    int first = der[at + 1] & 0xff;
    return first < 0x80 ? 2 : 2 + (first & 0x7f);
  }

  private static int length(byte[] der, int at) {
    int first = der[at + 1] & 0xff;
    if (first < 0x80) {
      return first;
    }
    int length = 0;
    for (int i = 0; i < (first & 0x7f); i++) {
      length = (length << 8) | (der[at + 2 + i] & 0xff);
    }
    return length;
  }

  private static byte[] element(int tag, byte[]... parts) {
    var content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    var out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.size();
    if (length >= 0x80) {
      out.write(0x82);
      out.write(length >> 8);
    }
    out.write(length);
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  private static byte[] der(String pem, String kind) {
    int from = pem.indexOf(begin(kind)) + begin(kind).length();
    int to = pem.indexOf("-----END", from);
    if (to < 0) {
      throw new IllegalArgumentException("the key has no end");
    }
    return Base64.getMimeDecoder().decode(pem.substring(from, to));
  }

  private static String begin(String kind) {
    return "-----BEGIN " + kind + "-----";
  }

  private static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits);
  }
}
