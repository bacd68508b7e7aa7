package dev.activator.config;

import dev.activator.config.ParsedSettings.Invalid;
import dev.activator.config.ParsedSettings.Valid;
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
 * The current settings of one ConfigMap. Invalid content changes nothing.
 *
 * <p><b>Threads.</b> Any may read. Listeners are called under the lock, in order.
 *
 * <p><b>Errors.</b> The first content must be valid (see {@link #begin}). Later invalid content is
 * logged. A listener that throws is logged and misses that change.
 */
public final class ConfigMapSettings<S extends ConfigMapSettings.Content<S>>
    implements Supplier<S> {
  public interface Content<S> {
    /** The keys whose change takes effect only after a restart. */
    List<String> needRestart(S next);

    SortedMap<String, String> entries();
  }

  private static final Logger log = LoggerFactory.getLogger(ConfigMapSettings.class);

  private final String name;
  private final Function<Map<String, String>, ParsedSettings<S>> parser;
  private final List<BiConsumer<S, S>> listeners = new CopyOnWriteArrayList<>();
  private volatile S current;
  private volatile @Nullable S atStart;
  private volatile @Nullable Invalid<S> first;

  ConfigMapSettings(String name, S defaults,
      Function<Map<String, String>, ParsedSettings<S>> parser) {
    this.name = name;
    this.current = defaults;
    this.parser = parser;
  }

  public String name() {
    return name;
  }

  @Override
  public S get() {
    return current;
  }

  /** Adds a listener that is called with the old and the new settings at each change. */
  public void onChange(BiConsumer<S, S> listener) {
    listeners.add(listener);
  }

  /** Calls the listener now and at each change. It misses no change. */
  public synchronized void follow(Consumer<S> listener) {
    listener.accept(current);
    listeners.add((_, now) -> listener.accept(now));
  }

  public synchronized void delivered(Map<String, String> data) {
    switch (parser.apply(data)) {
      case Valid<S>(var next) -> accept(next);
      case Invalid<S> invalid -> refuse(invalid);
    }
  }

  /**
   * Call after the first delivery. Later changes that need a restart are then logged.
   *
   * @throws IllegalStateException if the first content was invalid
   */
  public synchronized void begin() {
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
    for (var listener : listeners) {
      try {
        listener.accept(before, next);
      } catch (RuntimeException e) {
        log.error("The ConfigMap {}: a change could not be applied everywhere", name, e);
      }
    }
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
