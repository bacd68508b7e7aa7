package dev.activator.cluster.informer;

/**
 * An object as the API showed it at one moment.
 *
 * @param key {@code namespace/name}, or {@code name} for a kind without namespaces
 * @param uid differs between an object and a later one of the same name; empty if unknown
 * @param resourceVersion opaque: equal versions mean equal objects, and nothing else can be told
 * @param object the content; immutable
 */
public record VersionedObject<T>(String key, String uid, String resourceVersion, T object) {
  /** Whether both show the same object in the same state. */
  public boolean isSameAs(VersionedObject<T> other) {
    return uid.equals(other.uid) && !resourceVersion.isEmpty()
        && resourceVersion.equals(other.resourceVersion);
  }
}
