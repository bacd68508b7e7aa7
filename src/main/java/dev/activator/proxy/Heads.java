package dev.activator.proxy;

import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpObject;

/** What a request's head takes in memory, about. */
final class Heads {
  /** Beyond its bytes. */
  private static final int OBJECT_BYTES = 512;

  private Heads() {}

  static int size(HttpObject head) {
    return head.decoderResult() instanceof HttpMessageDecoderResult read
        ? OBJECT_BYTES + read.totalSize()
        : OBJECT_BYTES;
  }
}
