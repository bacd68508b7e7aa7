package dev.activator.cluster.informer;

/**
 * What tells objects of one kind apart, as {@link VersionedObject#key} writes it.
 *
 * <p>
 * <b>Source.</b> {@code MetaNamespaceKeyFunc} and {@code SplitMetaNamespaceKey} in client-go's
 * {@code tools/cache/store.go}.
 *
 * @param namespace empty for a kind that has none
 */
public record ObjectKey(String namespace, String name) {
  /**
   * @throws IllegalArgumentException if there is more than one slash
   */
  public static ObjectKey parse(String key) {
    int slash = key.indexOf('/');
    if (slash != key.lastIndexOf('/')) {
      throw new IllegalArgumentException(
          "\"" + key + "\" is no key: it has more than one slash");
    }
    return slash < 0
        ? new ObjectKey("", key)
        : new ObjectKey(key.substring(0, slash), key.substring(slash + 1));
  }

  @Override
  public String toString() {
    return namespace.isEmpty() ? name : namespace + "/" + name;
  }
}
