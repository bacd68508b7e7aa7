package dev.activator.embedded;

import dev.activator.platform.RevisionActions;
import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.EmbeddedScaleClient;
import dev.activator.revision.RevisionId;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.http.client.HttpClient;
import tools.jackson.databind.node.ObjectNode;

/**
 * The actions of the console's buttons on the cluster in this process: send a request, scale to
 * zero, restart.
 */
final class EmbeddedConsoleActions implements RevisionActions {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedConsoleActions.class);

  private final ApiStore store;
  private final Autoscaler autoscaler;
  private final IntSupplier requestPort;

  EmbeddedConsoleActions(ApiStore store, Autoscaler autoscaler, IntSupplier requestPort) {
    this.store = store;
    this.autoscaler = autoscaler;
    this.requestPort = requestPort;
  }

  /** The Deployment of a revision or ScaledService; null if the autoscaler does not scale it. */
  @Nullable ObjectNode deployment(RevisionId id) {
    var view = autoscaler.view(id);
    return view == null || !view.workload().kind().equals("Deployment")
        ? null
        : store.find(BuiltInKinds.DEPLOYMENT, id.namespace(), view.workload().name());
  }

  List<ObjectNode> pods(RevisionId id) {
    var deployment = deployment(id);
    return deployment == null ? List.of() : EmbeddedScaleClient.pods(store, deployment);
  }

  @Override
  public void sendRequest(RevisionId id) {
    HttpClient.create().headers(headers -> headers.set(HttpHeaderNames.HOST, "localhost")
        .set("Knative-Serving-Namespace", id.namespace())
        .set("Knative-Serving-Revision", id.name())).get()
        .uri("http://127.0.0.1:" + requestPort.getAsInt() + "/").response()
        .subscribe(answer -> log.info("{}: the console's request was answered with {}", id,
            answer.status().code()),
            failure -> log.info("{}: the console's request failed", id, failure));
  }

  @Override
  public void scaleToZero(RevisionId id) {
    log.info("{}: scaled to zero from the console", id);
    var deployment = deployment(id);
    if (deployment != null) {
      var name = ObjectMeta.name(deployment);
      autoscaler.forgetLoad(id)
          .thenRun(() -> store.edit(BuiltInKinds.DEPLOYMENT, id.namespace(), name, found -> {
            ((ObjectNode) found.path("spec")).put("replicas", 0);
            return found;
          }));
    }
  }

  @Override
  public void restart(RevisionId id) {
    log.info("{}: restarted from the console", id);
    pods(id).forEach(pod -> store.delete(BuiltInKinds.POD, id.namespace(), ObjectMeta.name(pod)));
  }
}
