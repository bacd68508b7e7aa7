package dev.activator.revision;

/**
 * What a {@link ScaleClient} starts and stops. It is a value: two that are equal are the same thing.
 * Its text names it in messages, such as {@code Deployment web}.
 */
public interface ScaleTarget {
  /** Such as {@code Deployment}. */
  String kind();

  String name();
}
