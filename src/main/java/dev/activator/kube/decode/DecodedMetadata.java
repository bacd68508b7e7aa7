package dev.activator.kube.decode;

import java.util.Map;

/** The metadata of an object. A missing field is an empty text. */
public final class DecodedMetadata {
  private String namespace = "";
  private String name = "";
  private String uid = "";
  private String resourceVersion = "";
  private Map<String, String> labels = Map.of();
  private Map<String, String> annotations = Map.of();
  private String ownerUid = "";
  private String created = "";
  private long generation;
  private boolean ends;

  public void read(JsonCursor in) {
    for (var field : in.fields()) {
      switch (field) {
        case "namespace" -> namespace = in.anyText();
        case "name" -> name = in.anyText();
        case "uid" -> uid = in.anyText();
        case "resourceVersion" -> resourceVersion = in.anyText();
        case "labels" -> labels = in.texts();
        case "annotations" -> annotations = in.texts();
        case "ownerReferences" -> owners(in);
        case "creationTimestamp" -> created = in.anyText();
        case "generation" -> generation = in.longCount(0);
        case "deletionTimestamp" -> ends = in.isPresent();
      }
    }
  }

  private void owners(JsonCursor in) {
    for (var _ : in.items()) {
      for (var field : in.fields()) {
        if (field.equals("uid") && ownerUid.isEmpty()) {
          ownerUid = in.anyText();
        }
      }
    }
  }

  public String namespace() {
    return namespace;
  }

  public String name() {
    return name;
  }

  public String uid() {
    return uid;
  }

  String resourceVersion() {
    return resourceVersion;
  }

  public Map<String, String> labels() {
    return labels;
  }

  public String label(String key) {
    return labels.getOrDefault(key, "");
  }

  public Map<String, String> annotations() {
    return annotations;
  }

  /** The uid of the object's first owner; empty if it has none. */
  public String ownerUid() {
    return ownerUid;
  }

  /** The time of creation in RFC 3339, so that texts sort by time; empty if absent. */
  public String created() {
    return created;
  }

  public long generation() {
    return generation;
  }

  /** Whether the object is being deleted. */
  public boolean ends() {
    return ends;
  }

  /**
   * {@code namespace/name}, or {@code name} for a kind without namespaces; empty without a name.
   */
  String key() {
    return namespace.isEmpty() || name.isEmpty() ? name : namespace + "/" + name;
  }
}
