package dev.activator.revision;

/**
 * The object whose replicas are scaled through its {@code scale} subresource, as an HPA names it.
 *
 * @param apiVersion such as {@code apps/v1}
 * @param kind such as {@code Deployment}
 * @param name in the namespace of what is scaled
 */
public record ScaleTargetRef(String apiVersion, String kind, String name) {
  /** {@code Deployment web}. */
  @Override
  public String toString() {
    return kind + " " + name;
  }
}
