package dev.activator.simulation;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations;
import dev.activator.standalone.autoscaler.policy.ScalingSettings;
import dev.activator.kube.decode.WatchedKind;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.reflector.SimulatedApi;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A revision's objects and pods, and the controllers and kubelets that make and end them. */
final class Deployment {
  private static final List<Integer> LIMITS = List.of(0, 1, 2, 10);

  private final RevisionId id;
  private final int index;
  private final VirtualLoop clock;
  private final Random random;
  private final SimulatedApi api;
  private final SimulatedPods network;
  private final Story story;
  private final int limit;
  private final int least;
  private final RequestTimeouts timeouts;
  private final List<Pod> pods = new ArrayList<>();
  private @Nullable Revision revision;
  private Runnable changed = () -> {
  };
  private int generation;
  private int made;
  private int wanted;
  /** Whether its EndpointSlices were deleted, and nobody makes them again for now. */
  private boolean unlisted;

  /** A pod as Kubernetes has it, and its process. */
  private final class Pod {
    private final String uid = id.name() + "-pod-" + made++;
    private final SimulatedPods.Process process;
    private @Nullable Condition condition;
    private boolean ending;

    Pod(SimulatedPods.Process process) {
      this.process = process;
      process.pod = uid;
    }

    boolean exists() {
      return pods.contains(this);
    }
  }

  Deployment(RevisionId id, int index, VirtualLoop clock, Random random, SimulatedApi api,
      SimulatedPods network, Story story) {
    this.id = id;
    this.index = index;
    this.clock = clock;
    this.random = random;
    this.api = api;
    this.network = network;
    this.story = story;
    this.limit = LIMITS.get(random.nextInt(LIMITS.size()));
    this.least = random.nextInt(2) * random.nextInt(3);
    this.timeouts = new RequestTimeouts(Duration.ofSeconds(3 + random.nextInt(20)),
        Duration.ofSeconds(random.nextInt(2) * 10L), Duration.ofSeconds(random.nextInt(2) * 8L));
  }

  RevisionId id() {
    return id;
  }

  int limit() {
    return limit;
  }

  ScalingSettings scaling() {
    var bounds = Map.of("autoscaling.knative.dev/min-scale", Integer.toString(least));
    return ScalingAnnotations.settings(bounds, limit == 0 ? 10 : limit,
        new Defaults(Duration.ofSeconds(6), 4));
  }

  /** Called when it is made or deleted, or its pods change. */
  void onChange(Runnable listener) {
    changed = listener;
  }

  int ready() {
    return (int) pods.stream().filter(pod -> pod.condition == Condition.READY && !pod.ending)
        .count();
  }

  int least() {
    return least;
  }

  Destination clusterIp() {
    return new Destination("10.200.0." + (1 + index), 80);
  }

  void ifExists(World.RevisionTask task) {
    if (revision != null) {
      task.accept(revision);
    }
  }

  /** In any order: no controller waits for another. */
  void create() {
    generation++;
    var now = new Revision(id, "uid-" + generation, PortProtocol.HTTP1, limit, timeouts, true, null,
        Map.of(), Map.of(), null);
    revision = now;
    changed.run();
    story.tell("%s exists: %d at once in a pod, at least %d pods, %s", id, limit, least, timeouts);
    soon(200, () -> ifSame(now, () -> api.put(KnativeKinds.REVISIONS, id.toString(), now.uid(),
        now)));
    soon(200, () -> ifSame(now, () -> api.put(KnativeKinds.SERVICES, id + "-private", now.uid(),
        new PrivateClusterIp(id, clusterIp(), null))));
    soon(200, () -> ifSame(now, this::publish));
    soon(200, () -> ifSame(now, () -> api.put(KnativeKinds.ENDPOINT_SLICES, id + "-public",
        now.uid(), new RevisionEndpointSlice(new Owner(id, Role.ACTIVATORS), "", List.of(new Subset(
            new Ports(8012, null), List.of(new Member("", "10.9.9.9", Condition.READY))))))));
  }

  private void ifSame(Revision created, Runnable task) {
    if (revision == created) {
      task.run();
    }
  }

  private void soon(int mostMillis, Runnable task) {
    clock.schedule(Duration.ofMillis(random.nextInt(mostMillis)), task);
  }

  /** It is deleted with all it has, and made again under the same name. */
  void recreate() {
    if (revision != null) {
      delete();
      clock.schedule(Duration.ofMillis(150 + random.nextInt(2_000)), () -> {
        if (revision == null) {
          create();
        }
      });
    }
  }

  /** With all it has. */
  void delete() {
    story.tell("%s is deleted", id);
    revision = null;
    wanted = 0;
    changed.run();
    api.remove(KnativeKinds.REVISIONS, id.toString());
    soon(100, () -> removeIfGone(KnativeKinds.SERVICES, "-private"));
    soon(100, () -> removeIfGone(KnativeKinds.ENDPOINT_SLICES, "-public"));
    soon(100, () -> removeIfGone(KnativeKinds.ENDPOINT_SLICES, "-a"));
    soon(100, () -> removeIfGone(KnativeKinds.ENDPOINT_SLICES, "-b"));
    List.copyOf(pods).forEach(this::remove);
  }

  private void removeIfGone(WatchedKind<?> kind, String suffix) {
    if (revision == null) {
      api.remove(kind, id + suffix);
    }
  }

  boolean exists() {
    return revision != null;
  }

  /** How many pods it has had. */
  int made() {
    return made;
  }

  int size() {
    return (int) pods.stream().filter(pod -> !pod.ending).count();
  }

  /** Those that answer, and are called ready. */
  DestinationSet serving() {
    return unlisted
        ? DestinationSet.NONE
        : DestinationSet.of(pods.stream().filter(pod -> pod.process.serves() && !pod.ending)
            .map(pod -> pod.process.at).toList());
  }

  /** The pods that its scale asks for; one that is lost is replaced. */
  int wanted() {
    return wanted;
  }

  void scale(int replicas) {
    if (revision != null) {
      wanted = replicas;
      reconcile();
    }
  }

  private void reconcile() {
    if (revision == null) {
      return;
    }
    while (size() < wanted) {
      start();
    }
    while (size() > wanted) {
      var alive = pods.stream().filter(pod -> !pod.ending).toList();
      end(alive.get(random.nextInt(alive.size())));
    }
  }

  private void start() {
    var pod = new Pod(new SimulatedPods.Process(id, freeAddress()));
    pods.add(pod);
    network.add(pod.process);
    soon(400, () -> {
      if (pod.exists() && !pod.ending) {
        condition(pod, Condition.NOT_READY);
        soon(2_500, () -> listen(pod));
      }
    });
  }

  /**
   * One that was used before, as often as not; but not by a revision of the same name, whose pods
   * nobody could tell from these.
   */
  private Destination freeAddress() {
    while (true) {
      var address = new Destination(
          "10." + index + "." + generation + "." + (1 + random.nextInt(8)), SimulatedPods.PORT);
      if (pods.stream().noneMatch(pod -> pod.process.at.equals(address))) {
        return address;
      }
    }
  }

  private void listen(Pod pod) {
    if (pod.exists() && !pod.ending && !pod.process.vanished) {
      story.tell("%s listens at %s", pod.uid, pod.process.at);
      pod.process.listens = true;
      soon(800, () -> ready(pod));
    }
  }

  private void ready(Pod pod) {
    if (pod.exists() && !pod.ending && pod.process.listens) {
      condition(pod, Condition.READY);
    }
  }

  private void condition(Pod pod, Condition now) {
    pod.condition = now;
    pod.process.ready = now == Condition.READY || now == Condition.TERMINATING;
    changed.run();
    publish();
  }

  private void end(Pod pod) {
    story.tell("%s is to end", pod.uid);
    pod.ending = true;
    condition(pod, pod.condition == Condition.READY ? Condition.TERMINATING : Condition.GONE);
    clock.schedule(Duration.ofMillis(500 + random.nextInt(2_000)), () -> drain(pod, 10));
  }

  /** Pods end what they have begun, if that does not take too long. */
  private void drain(Pod pod, int times) {
    if (pod.exists() && pod.process.running() > 0 && times > 0) {
      clock.schedule(Duration.ofMillis(300), () -> drain(pod, times - 1));
    } else if (pod.exists()) {
      remove(pod);
      soon(300, this::publish);
    }
  }

  private void remove(Pod pod) {
    story.tell("%s is gone", pod.uid);
    pods.remove(pod);
    network.remove(pod.process);
    changed.run();
    soon(50, this::reconcile);
  }

  /** Something goes wrong with one of its pods. */
  void troublePod() {
    var alive = pods.stream().filter(pod -> !pod.ending).toList();
    if (alive.isEmpty()) {
      return;
    }
    var pod = alive.get(random.nextInt(alive.size()));
    switch (random.nextInt(8)) {
      case 0 -> {
        story.tell("%s hangs", pod.uid);
        pod.process.hangs = true;
        soon(5_000, () -> network.wake(pod.process));
      }
      case 1, 2 -> crash(pod);
      case 3 -> {
        story.tell("%s flaps", pod.uid);
        condition(pod, Condition.NOT_READY);
        soon(50, () -> ready(pod));
      }
      case 4 -> {
        story.tell("the pods of %s are behind a mesh", id);
        pods.forEach(one -> one.process.meshed = true);
        soon(6_000, this::leaveMesh);
      }
      case 5 -> {
        story.tell("the node of %s is gone", pod.uid);
        pod.process.vanished = true;
        soon(2_000, () -> {
          if (pod.exists()) {
            remove(pod);
            publish();
          }
        });
      }
      case 6 -> {
        unlist();
        soon(2_000, this::list);
      }
      default -> {
        story.tell("%s is evicted", pod.uid);
        remove(pod);
        soon(1_000, this::publish);
      }
    }
  }

  private void unlist() {
    story.tell("the EndpointSlices of %s are deleted", id);
    unlisted = true;
    api.remove(KnativeKinds.ENDPOINT_SLICES, id + "-a");
    api.remove(KnativeKinds.ENDPOINT_SLICES, id + "-b");
  }

  private void list() {
    unlisted = false;
    publish();
  }

  private void leaveMesh() {
    story.tell("the pods of %s are behind no mesh", id);
    pods.forEach(one -> one.process.meshed = false);
  }

  private void crash(Pod pod) {
    story.tell("%s crashes", pod.uid);
    network.kill(pod.process);
    boolean noticed = random.nextBoolean();
    if (noticed) {
      soon(1_000, () -> {
        if (pod.exists() && !pod.ending && !pod.process.listens) {
          condition(pod, Condition.NOT_READY);
        }
      });
    }
    soon(3_000, () -> listen(pod));
  }

  /** Everything goes well from now on. */
  void heal() {
    leaveMesh();
    for (var pod : List.copyOf(pods)) {
      network.wake(pod.process);
      if (pod.process.vanished) {
        remove(pod);
      }
    }
    list();
  }

  /** Nobody lists its pods any more, as where its Service was deleted by mistake. */
  void stayUnlisted() {
    if (random.nextInt(8) == 0) {
      clock.schedule(Duration.ofSeconds(5), this::unlist);
    }
  }

  /** Two slices, of which the second often has nothing. */
  private void publish() {
    var now = revision;
    if (now == null || unlisted) {
      return;
    }
    var first = new ArrayList<Member>();
    var second = new ArrayList<Member>();
    for (var pod : pods) {
      if (pod.condition != null) {
        (pods.indexOf(pod) % 3 == 2 ? second : first)
            .add(new Member(pod.uid, pod.process.at.host(), pod.condition));
      }
    }
    slice("-a", first, now.uid());
    slice("-b", second, now.uid());
  }

  private void slice(String suffix, List<Member> members, String uid) {
    api.put(KnativeKinds.ENDPOINT_SLICES, id + suffix, uid, new RevisionEndpointSlice(
        new Owner(id, Role.PODS), uid,
        List.of(new Subset(new Ports(SimulatedPods.PORT, null), members))));
  }
}
