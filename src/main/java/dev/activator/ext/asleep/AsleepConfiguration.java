package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.Platform;
import dev.activator.platform.StatusField;
import dev.activator.revision.Destination;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.IdleState;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PodFreezer;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.Throttler;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sleep instead of the end of the last pods. */
@Configuration(proxyBeanMethods = false)
public class AsleepConfiguration {
  private static final String NAME = "asleep";
  private static final JsonMapper JSON = new JsonMapper();

  @Bean
  Extension asleep(Platform platform, ClusterWatcher cluster, LoopGroup loops,
      LiveRevisions revisions, Throttler throttler, AutoscalerLink link) {
    var loop = loops.loopFor(NAME);
    var acknowledger = new IdleAcknowledger(loop, revisions, throttler, link);
    return Extension.of(NAME, () -> {
      platform.idleMethod(new Idle(methods(loop, platform.freezer()), revisions));
      cluster.revisions().subscribe(NAME, acknowledger::onRevision);
      cluster.pods().subscribe(NAME, acknowledger::onListed);
    });
  }

  private static Map<String, Function<IdleMethod.Environment, PodSleep>> methods(Loop loop,
      @Nullable PodFreezer freezer) {
    var http = new HttpSleep(loop);
    return freezer == null
        ? Map.of("sleep", _ -> http, "shrink", ShrinkSleep::new)
        : Map.of("sleep", _ -> http, "freeze", _ -> new FreezeSleep(freezer));
  }

  /** Freezes the processes of pods. */
  private record FreezeSleep(PodFreezer freezer) implements PodSleep {
    @Override
    public CompletableFuture<String> sleep(RevisionId id, List<Destination> pods,
        IdleTarget target) {
      return freezer.freeze(pods);
    }

    @Override
    public CompletableFuture<String> wake(RevisionId id, List<Destination> pods,
        IdleTarget target) {
      return freezer.thaw(pods).thenApply(_ -> "");
    }

    @Override
    public boolean wakesAtOnce() {
      return true;
    }
  }

  /** @param methods by the field {@code do} */
  private record Idle(Map<String, Function<Environment, PodSleep>> methods, LiveRevisions revisions)
      implements IdleMethod<IdleTarget> {
    @Override
    public Class<IdleTarget> type() {
      return IdleTarget.class;
    }

    @Override
    public IdleTarget target(ScaleTarget workload, IdleSpec idle) {
      return IdleTarget.of(workload, idle, methods.keySet());
    }

    @Override
    public ScaleClient<IdleTarget> client(Environment environment) {
      return new IdleClient(environment,
          StatusField.of(environment::api, "idle", Idle::parse, Idle::format),
          () -> methods.entrySet().stream().collect(
              Collectors.toMap(Map.Entry::getKey, one -> one.getValue().apply(environment))),
          revisions);
    }

    private static @Nullable IdleState parse(JsonNode field) {
      return IdleState.parse(field.path("state").asString(""), field.path("since").asString(""),
          field.path("do").asString(""));
    }

    private static JsonNode format(IdleState state) {
      return JSON.createObjectNode().put("state", state.phase().text())
          .put("since", state.since().toString()).put("do", state.method());
    }
  }
}
