package dev.activator.embedded.api.store;

import tools.jackson.databind.node.ObjectNode;

/**
 * What a caller knows of the object it wants to delete.
 *
 * @param uid of the object; empty for any
 * @param resourceVersion of the object; empty for any
 */
public record Preconditions(String uid, String resourceVersion) {
  /** Whatever is there. */
  public static final Preconditions NONE = new Preconditions("", "");

  /**
   * Refuses what is not the object meant.
   *
   * @throws ApiException 409
   */
  public void check(Kind kind, ObjectNode stored) {
    if (!uid.isEmpty() && !uid.equals(Meta.uid(stored))) {
      throw ApiException.conflict(kind, Meta.name(stored), uidDiffers(uid, Meta.uid(stored)));
    }
    String version = Meta.resourceVersion(stored);
    if (!resourceVersion.isEmpty() && !resourceVersion.equals(version)) {
      throw ApiException.conflict(kind, Meta.name(stored),
          ("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in"
              + " record (%s). The object might have been modified")
              .formatted(resourceVersion, version));
    }
  }

  static String uidDiffers(String wanted, String stored) {
    return ("the UID in the precondition (%s) does not match the UID in record (%s). The object"
        + " might have been deleted and then recreated").formatted(wanted, stored);
  }
}
