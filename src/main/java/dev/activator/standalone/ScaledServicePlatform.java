package dev.activator.standalone;

import dev.activator.platform.IdleMethod;
import dev.activator.platform.Platform;
import dev.activator.platform.WakeMethod;
import dev.activator.platform.WorkloadDetails;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A platform that makes revisions of ScaledServices, and scales them in this process. */
public interface ScaledServicePlatform extends Platform {
  ScaledServiceAutoscalerAdapter adapter();

  @Override
  default @Nullable WorkloadDetails workload(RevisionId id) {
    return adapter().services().details(id);
  }

  @Override
  default void wakeMethod(WakeMethod<?> method) {
    adapter().add(method);
  }

  @Override
  default void idleMethod(IdleMethod<?> method) {
    adapter().setIdleMethod(method);
  }

  @Override
  default void extensions(Set<String> names) {
    adapter().setExtensions(names);
  }

  @Override
  default void beforeScaleDown(Function<RevisionId, CompletableFuture<Void>> preparation) {
    adapter().scales().beforeScaleDown(preparation);
  }

  @Override
  default void onWake(BiConsumer<String, Duration> listener) {
    adapter().onWake(listener);
  }

  @Override
  default void portTaken(int port, boolean taken) {
    adapter().services().portTaken(port, taken);
  }

  @Override
  default void portProbeFails(RevisionId revision, String why) {
    adapter().statusWriter().portProbeFails(revision, why);
  }
}
