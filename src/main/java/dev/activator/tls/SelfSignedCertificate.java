package dev.activator.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.HexFormat;

/**
 * A new key and a self-signed certificate, in PEM. The certificate only proves the possession of
 * the key: it never expires, and contains no host name.
 *
 * <p><b>Source.</b> RFC 5280, section 4.1. The JDK can create keys and signatures, but no
 * certificates.
 */
public record SelfSignedCertificate(String certificate, String key) {
  private static final int SEQUENCE = 0x30;
  private static final int SET = 0x31;
  private static final int INTEGER = 0x02;
  private static final int BIT_STRING = 0x03;
  private static final int OBJECT_IDENTIFIER = 0x06;
  private static final int UTF8_STRING = 0x0c;
  private static final int UTC_TIME = 0x17;
  private static final int GENERALIZED_TIME = 0x18;
  private static final int VERSION = 0xa0;
  private static final int SERIAL_BITS = 128;
  private static final int SHORT_LENGTH = 0x80;
  /** 2.5.4.3. */
  private static final byte[] COMMON_NAME = HexFormat.of().parseHex("550403");
  /** ecdsa-with-SHA256, 1.2.840.10045.4.3.2. */
  private static final byte[] ALGORITHM = HexFormat.of().parseHex("2a8648ce3d040302");

  /** @param name the common name of the certificate, for people */
  public static SelfSignedCertificate of(String name) {
    try {
      var random = new SecureRandom();
      var generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"), random);
      var pair = generator.generateKeyPair();
      byte[] algorithm = der(SEQUENCE, der(OBJECT_IDENTIFIER, ALGORITHM));
      byte[] subject = der(SEQUENCE, der(SET, der(SEQUENCE, der(OBJECT_IDENTIFIER, COMMON_NAME),
          der(UTF8_STRING, name.getBytes(StandardCharsets.UTF_8)))));
      byte[] content = der(SEQUENCE, der(VERSION, der(INTEGER, new byte[]{2})),
          der(INTEGER,
              new BigInteger(SERIAL_BITS, random).setBit(SERIAL_BITS - 2).toByteArray()),
          algorithm, subject, validity(), subject, pair.getPublic().getEncoded());
      var signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(pair.getPrivate(), random);
      signature.update(content);
      byte[] whole = der(SEQUENCE, content, algorithm,
          der(BIT_STRING, new byte[1], signature.sign()));
      return new SelfSignedCertificate(pem("CERTIFICATE", whole),
          pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this runtime has P-256", e);
    }
  }

  /** A validity without a well-defined end; RFC 5280, section 4.1.2.5. */
  private static byte[] validity() {
    return der(SEQUENCE, der(UTC_TIME, "200101000000Z".getBytes(StandardCharsets.US_ASCII)),
        der(GENERALIZED_TIME, "99991231235959Z".getBytes(StandardCharsets.US_ASCII)));
  }

  private static byte[] der(int tag, byte[]... parts) {
    var content = new ByteArrayOutputStream();
    for (var part : parts) {
      content.writeBytes(part);
    }
    var out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.size();
    if (length >= SHORT_LENGTH) {
      byte[] bytes = length < 1 << Byte.SIZE
          ? new byte[]{(byte) length}
          : new byte[]{(byte) (length >> Byte.SIZE), (byte) length};
      out.write(SHORT_LENGTH | bytes.length);
      out.writeBytes(bytes);
    } else {
      out.write(length);
    }
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  private static String pem(String kind, byte[] der) {
    return "-----BEGIN " + kind + "-----\n"
        + Base64.getMimeEncoder(64, new byte[]{'\n'}).encodeToString(der) + "\n-----END " + kind
        + "-----\n";
  }

  /** Keeps the key out of logs. */
  @Override
  public String toString() {
    return "SelfSigned";
  }
}
