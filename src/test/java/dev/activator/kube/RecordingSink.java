package dev.activator.kube;

import dev.activator.kube.informer.ReflectorStore;
import dev.activator.kube.informer.VersionedObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Holds what it is told, and writes down how. */
public final class RecordingSink<T> implements ReflectorStore<T> {
  public final List<String> calls = new ArrayList<>();
  public final Map<String, String> versions = new HashMap<>();

  @Override
  public void put(VersionedObject<T> now) {
    versions.put(now.key(), now.resourceVersion());
    calls.add("put " + now.key());
  }

  @Override
  public void remove(VersionedObject<T> last) {
    versions.remove(last.key());
    calls.add("remove " + last.key());
  }

  @Override
  public void replace(List<VersionedObject<T>> all) {
    versions.clear();
    all.forEach(one -> versions.put(one.key(), one.resourceVersion()));
    calls.add("replace " + versions.keySet().stream().sorted().toList());
  }
}
