package dev.activator.embedded.autoscaler;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.activator.embedded.autoscaler.policy.Sample;
import dev.activator.revision.RevisionId;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
import java.nio.ByteBuffer;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns frames from activators into samples.
 *
 * <p>
 * <b>Errors.</b> A frame that cannot be decoded, and an entry that makes no sense, is logged and
 * skipped; the rest of the frame counts.
 *
 * <p>
 * <b>Source.</b> {@code pkg/autoscaler/statserver/server.go} in Knative Serving.
 */
final class StatFrames {
  private static final Logger log = LoggerFactory.getLogger(StatFrames.class);

  private final BiConsumer<RevisionId, Sample> samples;

  StatFrames(BiConsumer<RevisionId, Sample> samples) {
    this.samples = samples;
  }

  void accept(ByteBuffer frame) {
    try {
      WireStatMessages.parseFrom(frame).getMessagesList().forEach(this::accept);
    } catch (InvalidProtocolBufferException e) {
      log.error("A frame of {} bytes is no batch of statistics: {}", frame.remaining(),
          e.getMessage());
    }
  }

  private void accept(WireStatMessage message) {
    if (!message.hasStat()) {
      return;
    }
    var stat = message.getStat();
    try {
      samples.accept(new RevisionId(message.getNamespace(), message.getName()), new Sample(
          stat.getPodName(), stat.getAverageConcurrentRequests(), stat.getRequestCount()));
    } catch (IllegalArgumentException e) {
      log.error("A report is skipped: {}", e.getMessage());
    }
  }
}
