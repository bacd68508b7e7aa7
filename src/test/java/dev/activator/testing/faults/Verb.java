package dev.activator.testing.faults;

/** What a request does, in the words of Kubernetes. */
public enum Verb {
  GET,
  LIST,
  WATCH,
  CREATE,
  UPDATE,
  PATCH,
  DELETE,
  DELETE_COLLECTION,
  /** Discovery, health, and what the API does not know. */
  OTHER;

  /** Of an HTTP request. */
  static Verb of(String method, boolean collection, boolean watch) {
    return switch (method) {
      case "GET" -> watch ? WATCH : collection ? LIST : GET;
      case "POST" -> CREATE;
      case "PUT" -> UPDATE;
      case "PATCH" -> PATCH;
      case "DELETE" -> collection ? DELETE_COLLECTION : DELETE;
      default -> OTHER;
    };
  }
}
