package dev.activator.kube;

import dev.activator.kube.informer.InformerHandler;
import dev.activator.kube.informer.InformerNotification;
import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.kube.informer.InformerNotification.FinalState;
import dev.activator.kube.informer.InformerNotification.Updated;
import dev.activator.kube.informer.VersionedObject;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what a handler is told, what it thinks there is, and what it must not be told. */
public final class Witness<T> implements InformerHandler<T> {
  /** Such as {@code add a}, {@code update a}, {@code delete a}, {@code lose a}; by name alone. */
  public final List<String> received = new CopyOnWriteArrayList<>();
  final List<String> wrongs = new CopyOnWriteArrayList<>();
  private final Map<String, VersionedObject<T>> present = new ConcurrentHashMap<>();

  @Override
  public void on(InformerNotification<T> notification) {
    switch (notification) {
      case Added<T>(var now) -> {
        received.add("add " + name(now));
        expect(present.put(now.key(), now) == null, "added again", now);
      }
      case Updated<T>(var before, var now) -> {
        received.add("update " + name(now));
        updated(before, now);
      }
      case Deleted<T>(_, var last, var state) -> {
        received.add((state == FinalState.KNOWN ? "delete " : "lose ") + name(last));
        expect(present.remove(last.key()) != null, "deleted, though it was not there", last);
      }
    }
  }

  private void updated(VersionedObject<T> before, VersionedObject<T> now) {
    var known = present.put(now.key(), now);
    expect(known != null, "updated, though it was not there", now);
    if (known != null) {
      expect(known.resourceVersion().equals(before.resourceVersion()), "updated from another", now);
      boolean newer = new BigInteger(known.resourceVersion())
          .compareTo(new BigInteger(now.resourceVersion())) < 0;
      expect(newer || !known.uid().equals(now.uid()), "went back", now);
    }
  }

  private void expect(boolean right, String wrong, VersionedObject<T> of) {
    if (!right) {
      wrongs.add(of.key() + "@" + of.resourceVersion() + " " + wrong);
    }
  }

  private static String name(VersionedObject<?> of) {
    return of.key().substring(of.key().indexOf('/') + 1);
  }

  /** What it thinks there is, key to resourceVersion. */
  Map<String, String> versions() {
    var versions = new ConcurrentHashMap<String, String>();
    present.forEach((key, object) -> versions.put(key, object.resourceVersion()));
    return versions;
  }
}
