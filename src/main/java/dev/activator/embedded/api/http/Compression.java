package dev.activator.embedded.api.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * Makes large bodies smaller for clients that can read them so.
 *
 * <p>
 * <b>Source.</b> {@code endpoints/handlers/responsewriters/writers.go} in Kubernetes' apiserver.
 */
final class Compression {
  /** Below that it costs more than it saves. */
  static final int THRESHOLD_BYTES = 128 * 1024;

  private static final int BUFFER_BYTES = 64 * 1024;

  private Compression() {}

  /** Whether an Accept-Encoding, with as many lines as it has, allows gzip. */
  static boolean accepted(List<String> acceptEncoding) {
    return acceptEncoding.stream().flatMap(line -> List.of(line.split(",", -1)).stream())
        .map(coding -> coding.strip().toLowerCase(Locale.ROOT))
        .anyMatch(coding -> coding.matches("(x-)?gzip(\\s*;\\s*q=(1(\\.0*)?|0\\.\\d*[1-9]\\d*))?"));
  }

  static byte[] gzip(byte[] body) {
    var bytes = new ByteArrayOutputStream(body.length / 4);
    try (var fast = new Fast(bytes)) {
      fast.write(body);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /** Gzip at its quickest. */
  private static final class Fast extends GZIPOutputStream {
    Fast(ByteArrayOutputStream bytes) throws IOException {
      super(bytes, BUFFER_BYTES);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }
}
