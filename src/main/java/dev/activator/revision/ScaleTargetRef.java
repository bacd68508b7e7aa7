package dev.activator.revision;

/**
 * A reference to an object that is scaled through its {@code scale} subresource. It has the fields
 * of {@code scaleTargetRef} in a HorizontalPodAutoscaler.
 *
 * @param apiVersion such as {@code apps/v1}
 * @param kind such as {@code Deployment}
 * @param name the object's name; the namespace is that of the object with the reference
 */
public record ScaleTargetRef(String apiVersion, String kind, String name)
    implements ScaleTarget {
  /** Kind and name, such as {@code Deployment web}. */
  @Override
  public String toString() {
    return kind + " " + name;
  }
}
