package dev.activator.config;

import dev.activator.config.Parsed.Invalid;
import dev.activator.config.Parsed.Valid;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of one ConfigMap as they are now. Invalid content changes nothing.
 *
 * <p>
 * <b>Threads.</b> Any may read. Only one thread delivers, or begins to follow, at a time, and calls
 * the listeners meanwhile.
 *
 * <p>
 * <b>Errors.</b> The first content must be valid, see {@link #begin}. Later content that is not gets
 * a line in the log.
 *
 * @param <S> what the map says
 */
public final class LiveSettings<S extends LiveSettings.Content<S>> implements Supplier<S> {
  /**
   * What one ConfigMap says, understood.
   *
   * @param <S> itself
   */
  public interface Content<S> {
    /** The keys in which the next content differs, and that are read only at the start. */
    List<String> needRestart(S next);

    /** What takes effect, by the key that says it. */
    SortedMap<String, String> entries();
  }

  private static final Logger log = LoggerFactory.getLogger(LiveSettings.class);

  private final String name;
  private final Function<Map<String, String>, Parsed<S>> parser;
  private final List<BiConsumer<S, S>> listeners = new CopyOnWriteArrayList<>();
  private volatile S current;
  private volatile @Nullable S atStart;
  private volatile @Nullable Invalid<S> first;

  /**
   * None are known yet.
   *
   * @param name of the ConfigMap
   * @param defaults what holds until the first delivery
   */
  LiveSettings(String name, S defaults, Function<Map<String, String>, Parsed<S>> parser) {
    this.name = name;
    this.current = defaults;
    this.parser = parser;
  }

  /** Of the ConfigMap. */
  public String name() {
    return name;
  }

  /** Those that hold now. */
  @Override
  public S get() {
    return current;
  }

  /** The listener is told each change, with the settings before and now. */
  public void onChange(BiConsumer<S, S> listener) {
    listeners.add(listener);
  }

  /** The listener is told the settings now and then at each change; none is missed in between. */
  public synchronized void follow(Consumer<S> listener) {
    listener.accept(current);
    listeners.add((_, now) -> listener.accept(now));
  }

  /** The map has this content now. */
  public synchronized void delivered(Map<String, String> data) {
    switch (parser.apply(data)) {
      case Valid<S>(var next) -> accept(next);
      case Invalid<S> invalid -> refuse(invalid);
    }
  }

  /**
   * The first delivery is over. From now on, what cannot be had without a new start is said.
   *
   * @throws IllegalStateException with all that is wrong, if it made no sense
   */
  public void begin() {
    var invalid = first;
    if (invalid != null) {
      throw new IllegalStateException("the ConfigMap " + name + ": " + invalid.line());
    }
    atStart = current;
  }

  private void accept(S next) {
    var before = current;
    first = null;
    if (next.equals(before)) {
      return;
    }
    current = next;
    var began = atStart;
    if (began != null) {
      log.info("The ConfigMap {} has changed", name);
      var needed = began.needRestart(next);
      if (!needed.isEmpty()) {
        log.warn("The ConfigMap {}: a change of {} takes effect only after a restart; the values"
            + " from the start stay in use", name, String.join(", ", needed));
      }
    }
    listeners.forEach(listener -> listener.accept(before, next));
  }

  private void refuse(Invalid<S> invalid) {
    if (atStart == null) {
      first = invalid;
    } else {
      log.error("The ConfigMap {} is invalid, and its last valid content stays in use: {}", name,
          invalid.line());
    }
  }
}
