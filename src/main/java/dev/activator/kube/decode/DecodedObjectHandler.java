package dev.activator.kube.decode;

import dev.activator.kube.informer.InformerHandler;
import dev.activator.kube.informer.InformerNotification;
import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.kube.informer.InformerNotification.FinalState;
import dev.activator.kube.informer.InformerNotification.Updated;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.loop.LogLimit;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The informer handler that passes changes of decoded objects to a listener, and logs objects and
 * fields that could not be decoded.
 */
public final class DecodedObjectHandler<F> implements InformerHandler<ObjectDecodeResult<F>> {
  private static final Logger log = LoggerFactory.getLogger(DecodedObjectHandler.class);

  private static final int MAX_LINES = 10;

  /** Receives changes of decoded objects, and in a resync also unchanged objects. */
  @FunctionalInterface
  public interface ChangeListener<F> {
    /**
     * An object has changed. A value is null if the object does not exist at that time, is
     * irrelevant, or is malformed.
     */
    void changed(@Nullable F before, @Nullable F now);
  }

  private final WatchedKind<F> kind;
  private final ChangeListener<F> listener;
  private final LongSupplier nanoTime;
  private final LogLimit limit = new LogLimit(MAX_LINES);

  public DecodedObjectHandler(WatchedKind<F> kind, ChangeListener<F> listener,
      LongSupplier nanoTime) {
    this.kind = kind;
    this.listener = listener;
    this.nanoTime = nanoTime;
  }

  @Override
  public void on(InformerNotification<ObjectDecodeResult<F>> notification) {
    switch (notification) {
      case Added<ObjectDecodeResult<F>>(var now) -> {
        warnings(now).forEach(this::warn);
        change(null, now.object().value());
      }
      case Updated<ObjectDecodeResult<F>>(var before, var now) -> {
        var known = warnings(before);
        warnings(now).stream().filter(line -> !known.contains(line))
            .forEach(this::warn);
        if (before == now || !equal(before, now)) {
          change(before.object().value(), now.object().value());
        }
      }
      case Deleted<ObjectDecodeResult<F>>(var before, var last, var finalState) -> {
        if (finalState == FinalState.UNKNOWN) {
          log.debug("No watch has reported the deletion of {} {}", kind.name(), last.key());
        }
        change(before.object().value(), null);
      }
    }
  }

  private static <F> boolean equal(VersionedObject<ObjectDecodeResult<F>> before,
      VersionedObject<ObjectDecodeResult<F>> now) {
    var value = now.object().value();
    return value != null && value.equals(before.object().value());
  }

  private void change(@Nullable F before, @Nullable F now) {
    if (before != null || now != null) {
      listener.changed(before, now);
    }
  }

  private void warn(String line) {
    limit.log(nanoTime.getAsLong(), others -> log.warn("{}{}", line,
        others == 0 ? "" : ". " + others + " others were left out of the log before"));
  }

  private Set<String> warnings(VersionedObject<ObjectDecodeResult<F>> object) {
    var now = object.object();
    if (now.problem() == null && now.remarks().isEmpty()) {
      return Set.of();
    }
    var lines = new LinkedHashSet<String>();
    now.remarks().forEach(
        remark -> lines.add("Left out of " + kind.name() + " " + object.key() + ": " + remark));
    if (now.problem() != null) {
      lines.add("Skipped " + kind.name() + " " + object.key() + ": " + now.problem());
    }
    return lines;
  }
}
