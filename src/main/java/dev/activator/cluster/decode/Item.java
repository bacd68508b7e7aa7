package dev.activator.cluster.decode;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Kubernetes object as the informer caches it: its identity, and what it means to us. All else is
 * dropped while it is decoded, and decoding never fails: an object that is not as it should be says
 * so itself. An informer does not survive an object it cannot decode.
 *
 * @param <F> what an object of the kind means
 */
public abstract class Item<F> implements HasMetadata, Namespaced {
  private final String kind;
  private String apiVersion;
  private ObjectMeta metadata = new ObjectMeta();
  private @Nullable F fact;
  private @Nullable String problem;
  private List<String> remarks = List.of();

  Item(String apiVersion, String kind) {
    this.apiVersion = apiVersion;
    this.kind = kind;
  }

  /** What an object means; null if nothing. Remarks are added about what was left out of it. */
  interface Reader<F> {
    @Nullable F read(Field object, List<String> remarks);
  }

  /** Takes from the object what is needed. */
  void fill(JsonNode object, Reader<F> reader) {
    metadata = identity(object.path("metadata"));
    var found = new ArrayList<String>();
    try {
      requireKind(object);
      fact = reader.read(Field.root(object), found);
    } catch (MalformedException | IllegalArgumentException malformed) {
      problem = malformed.getMessage();
    }
    remarks = List.copyOf(found);
  }

  /** In a list only the list says it; in a watch an object of another kind is none of ours. */
  private void requireKind(JsonNode object) {
    var claimed = object.path("kind").asText(kind);
    if (!claimed.equals(kind)) {
      throw new MalformedException("it is a " + claimed);
    }
  }

  private static ObjectMeta identity(JsonNode from) {
    var identity = new ObjectMeta();
    identity.setNamespace(from.path("namespace").asText(null));
    identity.setName(from.path("name").asText(null));
    identity.setResourceVersion(from.path("resourceVersion").asText(null));
    identity.setUid(from.path("uid").asText(null));
    return identity;
  }

  /** What it means; null if nothing, or if it is malformed. */
  public @Nullable F fact() {
    return fact;
  }

  /** Why it means nothing; null if it is well-formed. */
  public @Nullable String problem() {
    return problem;
  }

  /** What was left out of the fact, each in a sentence. */
  public List<String> remarks() {
    return remarks;
  }

  /** {@code namespace/name}, or {@code name} where there are no namespaces. */
  public String key() {
    return metadata.getNamespace() == null
        ? metadata.getName()
        : metadata.getNamespace() + "/" + metadata.getName();
  }

  @Override
  public ObjectMeta getMetadata() {
    return metadata;
  }

  @Override
  public void setMetadata(ObjectMeta metadata) {
    this.metadata = metadata;
  }

  @Override
  public String getKind() {
    return kind;
  }

  @Override
  public String getApiVersion() {
    return apiVersion;
  }

  @Override
  public void setApiVersion(String version) {
    this.apiVersion = version;
  }
}
