package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.EventCorrelator;
import dev.activator.embedded.runtime.policy.EventCorrelator.Happening;
import dev.activator.embedded.runtime.policy.EventCorrelator.Series;
import dev.activator.loop.Loop;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes Events about pods, Deployments and Services, for {@code kubectl get events} and
 * {@code describe}. It derives them from changes of the objects.
 *
 * <p><b>Threads.</b> One loop.
 */
final class EmbeddedEventRecorder {
  private static final String COMPONENT = "embedded-platform";
  /** The kinds whose Events are about the owner of the object. */
  private static final Map<Kind, Kind> OWNERS = Map.of(BuiltInKinds.REPLICA_SET,
      BuiltInKinds.DEPLOYMENT,
      BuiltInKinds.REVISION, BuiltInKinds.KNATIVE_SERVICE);

  private final ApiStore store;
  private final Loop loop;
  private final ControllerWrites objects;
  private final EventCorrelator correlator = new EventCorrelator();
  private final Map<String, ObjectNode> seen = new HashMap<>();
  private final Map<Long, Name> names = new HashMap<>();

  private record Name(String namespace, String name) {}

  EmbeddedEventRecorder(ApiStore store, Loop loop) {
    this.store = store;
    this.loop = loop;
    this.objects = new ControllerWrites(store);
  }

  List<StoreSubscription> subscribe() {
    return List
        .of(BuiltInKinds.POD, BuiltInKinds.REPLICA_SET, BuiltInKinds.REVISION,
            BuiltInKinds.KNATIVE_SERVICE)
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
      news.forEach(one -> record(event.kind(), object, one));
      return;
    }
    var owner = store.find(ownerKind, ObjectMeta.namespace(object),
        ControllerRefs.controller(object).path("name").asString(""));
    if (owner != null && ControllerRefs.controls(owner, object)) {
      news.forEach(one -> record(ownerKind, owner, one));
    }
  }

  private void record(Kind kind, ObjectNode about, ChangeToEventMapper.News news) {
    var now = store.now().truncatedTo(ChronoUnit.SECONDS);
    var step = correlator.on(
        new Happening(ObjectMeta.uid(about), news.type(), news.reason(), news.message()), now);
    step.expired().forEach(this::remove);
    var series = step.series();
    if (series.count() > 1 && counted(series)) {
      return;
    }
    var event = ControllerWrites.named(BuiltInKinds.EVENT, ObjectMeta.namespace(about),
        ObjectMeta.name(about) + "." + Long.toHexString(series.number()));
    event.putObject("involvedObject").put("apiVersion", kind.apiVersion()).put("kind", kind.kind())
        .put("namespace", ObjectMeta.namespace(about)).put("name", ObjectMeta.name(about))
        .put("uid", ObjectMeta.uid(about))
        .put("resourceVersion", ObjectMeta.resourceVersion(about));
    event.put("type", news.type()).put("reason", news.reason())
        .put("reportingComponent", COMPONENT).put("reportingInstance", "localhost");
    event.putObject("source").put("component", COMPONENT).put("host", "localhost");
    names.put(series.number(), new Name(ObjectMeta.namespace(event), ObjectMeta.name(event)));
    objects.create(BuiltInKinds.EVENT, count(event, series));
  }

  /** Raises the count of an Event. Returns false if the Event does not exist any more. */
  private boolean counted(Series series) {
    var name = names.get(series.number());
    return name != null && objects.edit(BuiltInKinds.EVENT, name.namespace(), name.name(),
        event -> count(event, series));
  }

  private static ObjectNode count(ObjectNode event, Series series) {
    return event.put("message", series.last().message()).put("count", series.count())
        .put("firstTimestamp", series.firstTime().toString()).put("lastTimestamp",
            series.lastTime().toString());
  }

  private void remove(Series series) {
    var name = names.remove(series.number());
    if (name != null) {
      objects.delete(BuiltInKinds.EVENT, name.namespace(), name.name());
    }
  }
}
