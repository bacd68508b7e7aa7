package dev.activator.cluster.informer;

/**
 * An object as the API showed it at one moment.
 *
 * @param key {@code namespace/name}, or {@code name} where there are no namespaces
 * @param uid differs between an object and another one of the same name after it; empty if unknown
 * @param resourceVersion opaque: equal ones mean equal objects, and nothing else can be told
 * @param object what it holds; never changed by anybody
 */
public record VersionedObject<T>(String key, String uid, String resourceVersion, T object) {
  /** Whether both show the same object in the same state. */
  public boolean isSameAs(VersionedObject<T> other) {
    return uid.equals(other.uid) && !resourceVersion.isEmpty()
        && resourceVersion.equals(other.resourceVersion);
  }
}
