package dev.activator.app;

import dev.activator.config.LiveSettings;
import java.util.List;

/**
 * All settings that can change while the process runs.
 *
 * @param all of them
 */
record Settings(List<LiveSettings<?>> all) {
  /**
   * They have been delivered once.
   *
   * @throws IllegalStateException if the first content of a map makes no sense
   */
  void begin() {
    all.forEach(LiveSettings::begin);
  }
}
