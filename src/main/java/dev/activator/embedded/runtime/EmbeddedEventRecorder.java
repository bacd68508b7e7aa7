package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.loop.Loop;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes Events about pods, Deployments and Services, for {@code kubectl get events} and
 * {@code describe}. It derives them from changes of the objects. What happens again raises the count of its Event.
 *
 * <p><b>Threads.</b> One loop.
 */
final class EmbeddedEventRecorder {
  static final int MAX_EVENTS = 1_000;
  private static final String COMPONENT = "embedded-platform";
  /** The kinds whose Events are about the owner of the object. */
  private static final Map<Kind, Kind> OWNERS = Map.of(BuiltInKinds.REPLICA_SET,
      BuiltInKinds.DEPLOYMENT,
      BuiltInKinds.REVISION, BuiltInKinds.KNATIVE_SERVICE);

  private final ApiStore store;
  private final Loop loop;
  private final ControllerWrites objects;
  private final Map<String, ObjectNode> seen = new HashMap<>();
  /** The names of the Events, in the order in which they happened last. */
  private final LinkedHashMap<Happening, String> names = new LinkedHashMap<>();
  private long made;

  /** @param about the uid of the object */
  private record Happening(String namespace, String about, ChangeToEventMapper.News news) {}

  EmbeddedEventRecorder(ApiStore store, Loop loop) {
    this.store = store;
    this.loop = loop;
    this.objects = new ControllerWrites(store);
  }

  List<StoreSubscription> subscribe() {
    return List
        .of(BuiltInKinds.POD, BuiltInKinds.REPLICA_SET, BuiltInKinds.DEPLOYMENT,
            BuiltInKinds.REVISION, BuiltInKinds.KNATIVE_SERVICE)
        .stream()
        .map(kind -> store.subscribe(kind, loop, this::changed)).toList();
  }

  private void changed(ApiStoreChange event) {
    var object = event.object();
    boolean gone = event.type() == ApiStoreChange.Type.DELETED;
    var before = gone
        ? seen.remove(ObjectMeta.uid(object))
        : seen.put(ObjectMeta.uid(object), object);
    var news = ChangeToEventMapper.between(event.kind(), before, gone ? null : object);
    var ownerKind = OWNERS.get(event.kind());
    if (ownerKind == null) {
      recordLater(event.kind(), object, news);
      return;
    }
    var owner = store.find(ownerKind, ObjectMeta.namespace(object),
        ControllerRefs.controller(object).path("name").asString(""));
    if (owner != null && ControllerRefs.controls(owner, object)) {
      recordLater(ownerKind, owner, news);
    }
  }

  private void recordLater(Kind kind, ObjectNode about, List<ChangeToEventMapper.News> news) {
    if (!news.isEmpty()) {
      loop.schedule(PodProcess.HEAD_START, () -> news.forEach(one -> record(kind, about, one)));
    }
  }

  private void record(Kind kind, ObjectNode about, ChangeToEventMapper.News news) {
    var now = store.now().truncatedTo(ChronoUnit.SECONDS).toString();
    var happening = new Happening(ObjectMeta.namespace(about), ObjectMeta.uid(about), news);
    var known = names.remove(happening);
    var name = known == null
        ? ObjectMeta.name(about) + "." + Long.toHexString(made++)
        : known;
    names.put(happening, name);
    boolean counted = known != null
        && objects.edit(BuiltInKinds.EVENT, happening.namespace(), name, event -> event
            .put("count", event.path("count").asInt(0) + 1).put("lastTimestamp", now));
    if (counted) {
      return;
    }
    var event = ControllerWrites.named(BuiltInKinds.EVENT, happening.namespace(), name);
    event.putObject("involvedObject").put("apiVersion", kind.apiVersion()).put("kind", kind.kind())
        .put("namespace", happening.namespace()).put("name", ObjectMeta.name(about))
        .put("uid", happening.about()).put("resourceVersion", ObjectMeta.resourceVersion(about));
    event.put("type", news.type()).put("reason", news.reason()).put("message", news.message())
        .put("count", 1).put("firstTimestamp", now).put("lastTimestamp", now)
        .put("reportingComponent", COMPONENT).put("reportingInstance", "localhost");
    event.putObject("source").put("component", COMPONENT).put("host", "localhost");
    objects.create(BuiltInKinds.EVENT, event);
    if (names.size() > MAX_EVENTS) {
      var oldest = names.pollFirstEntry();
      objects.delete(BuiltInKinds.EVENT, oldest.getKey().namespace(), oldest.getValue());
    }
  }
}
