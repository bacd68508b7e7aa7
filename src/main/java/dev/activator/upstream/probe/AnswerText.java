package dev.activator.upstream.probe;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The beginning of a probe's answer: enough to know who answers.
 *
 * <p>
 * <b>Threads.</b> Belongs to its probe's loop.
 */
final class AnswerText {
  private static final int KEPT_BYTES = 1 << 10;

  private final StringBuilder text = new StringBuilder();

  /** Keeps as much of the next bytes as there is room for; they stay the caller's. */
  void keep(ByteBuf bytes) {
    int room = Math.min(KEPT_BYTES - text.length(), bytes.readableBytes());
    text.append(bytes.toString(bytes.readerIndex(), room, StandardCharsets.UTF_8));
  }

  /** Whether nothing more is kept. */
  boolean isFull() {
    return text.length() >= KEPT_BYTES;
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
