package dev.activator.revision;

/** The name of the Service in front of a revision's own pods. */
public final class PrivateService {
  private PrivateService() {}

  /** The name for a revision of this name; the namespace is the revision's own. */
  public static String nameOf(String revision) {
    return ChildName.of(revision, "-private");
  }
}
