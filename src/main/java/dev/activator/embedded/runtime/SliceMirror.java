package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes of every Endpoints object the EndpointSlices that say the same, as a cluster's controllers
 * do.
 *
 * <p>
 * <b>Threads.</b> Those of one loop.
 */
final class SliceMirror {
  private final Objects objects;
  /** The names of the slices that were written, by the Endpoints they are of. */
  private final Map<String, Set<String>> written = new HashMap<>();

  SliceMirror(Objects objects) {
    this.objects = objects;
  }

  void endpointsChanged(ApiEvent event) {
    var endpoints = event.object();
    var stale = written.remove(Meta.key(endpoints));
    if (event.type() != ApiEvent.Type.DELETED) {
      var names = write(endpoints, stale == null ? Set.of() : stale);
      written.put(Meta.key(endpoints), names);
      if (stale != null) {
        stale.removeAll(names);
      }
    }
    if (stale != null) {
      stale.forEach(name -> objects.delete(Kinds.ENDPOINT_SLICE, Meta.namespace(endpoints), name));
    }
  }

  private Set<String> write(ObjectNode endpoints, Set<String> there) {
    var names = new HashSet<String>();
    for (var slice : SliceObjects.of(endpoints)) {
      String name = Meta.name(slice);
      names.add(name);
      // Somebody else may have deleted it.
      if (!there.contains(name) || !edit(slice, endpoints)) {
        objects.create(Kinds.ENDPOINT_SLICE, slice);
      }
    }
    return names;
  }

  private boolean edit(ObjectNode slice, ObjectNode endpoints) {
    return objects.edit(Kinds.ENDPOINT_SLICE, Meta.namespace(slice), Meta.name(slice), before -> {
      Meta.of(slice).setAll(Meta.of(before));
      Meta.of(slice).set("labels", SliceObjects.labels(endpoints));
      return slice;
    });
  }
}
