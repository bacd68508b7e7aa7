package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.testing.WithoutLog;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two activators, one pod with one permit: all orders of events, up to a number of them. */
@Tag("simulation")
@WithoutLog
class TwoActivatorsTest {
  private static final int EVENTS = Integer.getInteger("lending.events", 7);
  private static final Destination POD = new Destination("10.2.0.1", 8012);
  private static final Revision REVISION = new Revision(SimulatedActivator.ID, "",
      PortProtocol.HTTP1,
      1, RequestTimeouts.DEFAULT, true, ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null);

  private enum Event {
    REQUEST,
    END,
    MEMBERS,
    ARRIVES,
    CUT,
    CONNECT
  }

  /** @param side where it happens; of a message, where it comes from */
  private record Step(Event event, int side) {
    static Step of(byte code) {
      return new Step(Event.values()[code / 2], code % 2);
    }

    byte code() {
      return (byte) (event.ordinal() * 2 + side);
    }
  }

  /** Each round is one event longer, so a state is found at once by the shortest way to it. */
  @Test
  void neverHasTwoOwnersNorTwoRequestsOnThePod() {
    Set<UUID> seen = ConcurrentHashMap.newKeySet();
    var served = new AtomicInteger();
    var ways = List.of(new byte[0]);
    for (int length = 0; length <= EVENTS; length++) {
      boolean isLast = length == EVENTS;
      ways = ways.parallelStream().flatMap(way -> {
        var activators = after(way);
        served.accumulateAndGet(activators.served(), Math::max);
        return isLast || !seen.add(activators.fingerprint())
            ? Stream.empty()
            : activators.possible().stream().map(step -> longer(way, step));
      }).toList();
    }
    assertThat(served).hasValueGreaterThan(1);
    assertThat(seen).hasSizeGreaterThan(100);
  }

  private static byte[] longer(byte[] way, Step step) {
    var longer = Arrays.copyOf(way, way.length + 1);
    longer[way.length] = step.code();
    return longer;
  }

  private static Activators after(byte[] way) {
    var activators = new Activators();
    var steps = new ArrayList<Step>();
    for (byte code : way) {
      var step = Step.of(code);
      steps.add(step);
      activators.happen(step);
    }
    assertThat(activators.running()).as("running after %s", steps).isLessThanOrEqualTo(1);
    assertThat(activators.owners()).as("owners after %s", steps).isLessThanOrEqualTo(1);
    return activators;
  }

  private static final class Activators {
    private final VirtualLoop loop = new VirtualLoop();
    private final List<SimulatedActivator> both = new ArrayList<>();
    private final List<Deque<PeerMessage>> underWay = List.of(new ArrayDeque<>(),
        new ArrayDeque<>());
    private final boolean[] drained = new boolean[2];
    private final int[] requests = new int[2];
    private boolean connected = true;

    Activators() {
      for (int side = 0; side < 2; side++) {
        int number = side;
        var id = new PeerId("10.1.0." + (side + 1), "p");
        both.add(new SimulatedActivator(id, loop, REVISION, new Random(1), Duration.ofDays(1),
            (_, message) -> send(number, message), _ -> {
            }));
      }
      both.forEach(it -> it.activators(Set.of("10.1.0.1", "10.1.0.2")));
      both.forEach(it -> it.listed(List.of("10.1.0.1", "10.1.0.2")));
      both.forEach(it -> it.pods(List.of(POD)));
      connect();
      run();
      while (underWay.stream().anyMatch(it -> !it.isEmpty())) {
        arrive(0);
        arrive(1);
        run();
      }
    }

    private void send(int from, PeerMessage message) {
      if (connected) {
        underWay.get(from).add(message);
      }
    }

    private void connect() {
      connected = true;
      for (int side = 0; side < 2; side++) {
        both.get(side).lending().onConnected(both.get(1 - side).id());
      }
    }

    private void arrive(int from) {
      var message = underWay.get(from).poll();
      if (message != null) {
        both.get(1 - from).lending().onReceived(both.get(from).id(), message);
      }
    }

    private void run() {
      loop.advance(Duration.ofMillis(10));
    }

    void happen(Step step) {
      var at = both.get(step.side());
      switch (step.event()) {
        case REQUEST -> {
          requests[step.side()]++;
          at.request();
        }
        case END -> at.endOne();
        case MEMBERS -> {
          drained[step.side()] = !drained[step.side()];
          at.listed(drained[step.side()]
              ? List.of(drainedFrom())
              : List.of("10.1.0.1", "10.1.0.2"));
        }
        case ARRIVES -> arrive(step.side());
        case CUT -> {
          connected = false;
          underWay.forEach(Collection::clear);
          both.getFirst().lending().onDisconnected(both.getLast().id());
          both.getLast().lending().onDisconnected(both.getFirst().id());
        }
        case CONNECT -> connect();
      }
      run();
    }

    /** The other than the first owner, so that the pod moves. */
    private static String drainedFrom() {
      var owners = new dev.activator.ext.lending.policy.PodSharding(List.of("10.1.0.1", "10.1.0.2"),
          true,
          List.of());
      return "10.1.0.1".equals(owners.owner(POD)) ? "10.1.0.2" : "10.1.0.1";
    }

    List<Step> possible() {
      var all = new ArrayList<Step>();
      for (int side = 0; side < 2; side++) {
        if (requests[side] < 2) {
          all.add(new Step(Event.REQUEST, side));
        }
        if (both.get(side).running(POD) > 0) {
          all.add(new Step(Event.END, side));
        }
        all.add(new Step(Event.MEMBERS, side));
        if (!underWay.get(side).isEmpty()) {
          all.add(new Step(Event.ARRIVES, side));
        }
      }
      all.add(new Step(connected ? Event.CUT : Event.CONNECT, 0));
      return all;
    }

    int running() {
      return both.stream().mapToInt(it -> it.running(POD)).sum();
    }

    int served() {
      return requests[0] + requests[1] - (int) both.stream()
          .mapToLong(SimulatedActivator::queued).sum();
    }

    int owners() {
      return (int) both.stream().flatMap(it -> it.view().pods().stream())
          .filter(SharedPermitsView.PodShare::owned).count();
    }

    /** Of the state: a million of them are kept. */
    UUID fingerprint() {
      try {
        var bytes = ByteBuffer.wrap(MessageDigest.getInstance("SHA-256")
            .digest(state().getBytes(StandardCharsets.UTF_8)));
        return new UUID(bytes.getLong(), bytes.getLong());
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Equal for two states only if everything that follows is equal. */
    private String state() {
      var numbers = new HashMap<Object, Integer>();
      var text = new StringBuilder();
      for (int side = 0; side < 2; side++) {
        var at = both.get(side);
        text.append('\n').append(requests[side]).append(drained[side]).append(at.queued())
            .append(at.running(POD)).append(at.view());
        write(at.revisionLending(), "", text, numbers);
        underWay.get(side).forEach(it -> write(it, "", text, numbers));
      }
      return text.append(connected).toString();
    }

    private static final Set<String> NUMBERS = Set.of("epoch", "account", "lendingAccount",
        "borrowingAccount", "answeredEpoch");
    private static final Set<String> LEFT_OUT = Set.of("lending", "permits", "shared", "activator",
        "known",
        "oldest");

    private static void write(Object value, String name, StringBuilder text,
        Map<Object, Integer> numbers) {
      switch (value) {
        case null -> text.append('-');
        case Long number when NUMBERS.contains(name) ->
          text.append('#').append(numbers.computeIfAbsent(number, _ -> numbers.size()));
        case Map<?, ?> map -> map.forEach((key, each) -> {
          text.append(key instanceof PeerRevisionState peer ? peer.address() : key)
              .append(':');
          write(each, "", text, numbers);
        });
        case Collection<?> list -> list.forEach(each -> write(each, "", text, numbers));
        case Object object when object.getClass().getName().startsWith("dev.activator.ext.lending.")
            && !(object instanceof Enum<?>) -> {
          for (var field : FIELDS.get(object.getClass())) {
            text.append(' ').append(field.getName()).append('=');
            write(read(field, object), field.getName(), text, numbers);
          }
        }
        case Number number -> text.append(number);
        case Boolean flag -> text.append(flag);
        case String word -> text.append(word);
        case Destination pod -> text.append(pod);
        default -> text.append('.');
      }
    }

    private static final ClassValue<List<Field>> FIELDS = new ClassValue<>() {
      @Override
      protected List<Field> computeValue(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields())
            .filter(field -> !Modifier.isStatic(field.getModifiers()))
            .filter(field -> !field.getName().endsWith("Nanos")
                && !LEFT_OUT.contains(field.getName())
                && !Loop.class.isAssignableFrom(field.getType()))
            .peek(field -> field.setAccessible(true)).toList();
      }
    };

    private static Object read(Field field, Object from) {
      try {
        return field.get(from);
      } catch (IllegalAccessException e) {
        throw new AssertionError(e);
      }
    }
  }
}
