package dev.activator.cluster.reflector;

import dev.activator.cluster.informer.DeltaSink;
import dev.activator.cluster.informer.VersionedObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a mirror was told so far. Between the beginning of a list and its end nothing is told, and
 * then all at once: nobody ever sees half a list.
 *
 * <p>
 * <b>Threads.</b> One at a time calls.
 */
final class Told<T> {
  private final Map<String, VersionedObject<T>> all = new LinkedHashMap<>();
  private final DeltaSink<T> mirror;
  private boolean listing;

  Told(DeltaSink<T> mirror) {
    this.mirror = mirror;
  }

  void listing() {
    listing = true;
  }

  boolean isListing() {
    return listing;
  }

  void listed() {
    listing = false;
    mirror.replace(all());
  }

  void put(VersionedObject<T> now) {
    all.put(now.key(), now);
    if (!listing) {
      mirror.put(now);
    }
  }

  void removed(VersionedObject<T> last) {
    all.remove(last.key());
    if (!listing) {
      mirror.remove(last);
    }
  }

  List<VersionedObject<T>> all() {
    return List.copyOf(all.values());
  }
}
