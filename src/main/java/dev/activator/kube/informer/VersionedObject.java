package dev.activator.kube.informer;

/**
 * An object with its key and version.
 *
 * @param key {@code namespace/name}, or {@code name} for a kind without namespaces
 * @param uid empty if unknown
 * @param resourceVersion an opaque text, which can only be compared for equality
 * @param object immutable
 */
public record VersionedObject<T>(String key, String uid, String resourceVersion, T object) {
  public boolean isSameAs(VersionedObject<T> other) {
    return uid.equals(other.uid) && !resourceVersion.isEmpty()
        && resourceVersion.equals(other.resourceVersion);
  }
}
