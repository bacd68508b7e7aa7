package dev.activator.revision;

/**
 * A reference to the object that is scaled through its {@code scale} subresource, in the form of an
 * HPA's {@code scaleTargetRef}.
 *
 * @param apiVersion such as {@code apps/v1}
 * @param kind such as {@code Deployment}
 * @param name the object's name, in the namespace of the ScaledService or revision
 */
public record ScaleTargetRef(String apiVersion, String kind, String name) {
  /** Kind and name, such as {@code Deployment web}. */
  @Override
  public String toString() {
    return kind + " " + name;
  }
}
