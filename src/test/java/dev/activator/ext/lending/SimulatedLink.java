package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.Random;

/** The link of two activators: in order, with delays, and sometimes lost. */
final class SimulatedLink {
  static final Duration SILENCE = Duration.ofSeconds(6);

  private final VirtualLoop world;
  private final Random random;
  private final SimulatedActivator one;
  private final SimulatedActivator other;
  private final Faults faults;
  /** By direction. */
  private final long[] arrivesNanos = new long[2];
  private final long[] stalledUntil = new long[2];
  private final boolean[] connected = new boolean[2];
  private final boolean[] beats = new boolean[2];
  private int connection;
  private boolean open;
  private boolean underWayIsLost;
  private boolean allowed = true;

  SimulatedLink(VirtualLoop world, Random random, SimulatedActivator one, SimulatedActivator other,
      Faults faults) {
    this.world = world;
    this.random = random;
    this.one = one;
    this.other = other;
    this.faults = faults;
  }

  boolean isOf(SimulatedActivator activator) {
    return activator == one || activator == other;
  }

  boolean isBetween(PeerId from, PeerId to) {
    return one.id().equals(from) && other.id().equals(to)
        || other.id().equals(from) && one.id().equals(to);
  }

  SimulatedActivator at(PeerId id) {
    return one.id().equals(id) ? one : other;
  }

  SimulatedActivator farSide(SimulatedActivator from) {
    return from == one ? other : one;
  }

  void allow(boolean now) {
    allowed = now;
  }

  /** Both sides notice, one after the other. */
  void connect() {
    if (open || connected[0] || connected[1] || !allowed || !one.isAlive() || !other.isAlive()) {
      return;
    }
    open = true;
    connection++;
    for (int side = 0; side < 2; side++) {
      int number = side;
      int its = connection;
      connected[side] = true;
      at(side).loop().execute(() -> {
        if (its == connection && connected[number]) {
          at(number).lending().onConnected(at(1 - number).id());
        }
      });
    }
  }

  private SimulatedActivator at(int side) {
    return side == 0 ? one : other;
  }

  /** Each side notices when it does; what is under way is lost, or arrives before that. */
  void cut() {
    if (open && isUsed()) {
      lose(3_000);
    }
  }

  private void lose(int maxMillis) {
    if (open) {
      open = false;
      underWayIsLost = random.nextBoolean();
      for (int side = 0; side < 2; side++) {
        int number = side;
        world.schedule(Duration.ofMillis(random.nextInt(maxMillis)),
            () -> at(number).loop().execute(() -> {
              connected[number] = false;
              at(number).lending().onDisconnected(at(1 - number).id());
              faults.onDisconnect(at(number), at(1 - number));
            }));
      }
    }
  }

  /** One of them has ended. */
  void endOf(SimulatedActivator dead) {
    lose(3_000);
    connected[dead == one ? 0 : 1] = false;
  }

  /** In one direction. */
  void stall(Duration time) {
    if (isUsed()) {
      stalledUntil[random.nextInt(2)] = now() + time.toNanos();
    }
  }

  /**
   * Nothing passes in these directions for a while. A side that receives nothing for six seconds gives
   * the link up; the other one notices that, or receives nothing, either.
   */
  void partition(boolean there, boolean back, Duration time) {
    long until = now() + time.toNanos();
    stalledUntil[0] = there ? until : stalledUntil[0];
    stalledUntil[1] = back ? until : stalledUntil[1];
    if (there || back) {
      allowed = false;
      if (time.compareTo(SILENCE) > 0) {
        world.schedule(SILENCE, () -> lose(100));
      }
      world.schedule(time, () -> allowed = true);
      world.schedule(time.plusMillis(random.nextInt(8_000)), this::connect);
    }
  }

  void stall(SimulatedActivator from, Duration time) {
    stalledUntil[from == one ? 0 : 1] = now() + time.toNanos();
  }

  /** Activators that never met are not promised anything. */
  private boolean isUsed() {
    return beats[0] && beats[1];
  }

  void calm() {
    stalledUntil[0] = 0;
    stalledUntil[1] = 0;
  }

  void send(SimulatedActivator from, PeerMessage message) {
    int side = from == one ? 0 : 1;
    var to = farSide(from);
    if (!open || !connected[side]) {
      return;
    }
    int its = connection;
    long arrives = Math.max(now(), stalledUntil[side]) + 50_000 + random.nextInt(1_000_000);
    arrivesNanos[side] = Math.max(arrives, arrivesNanos[side] + 1);
    world.schedule(Duration.ofNanos(arrivesNanos[side] - now()),
        () -> to.loop().execute(() -> deliver(from, to, side, its, message)));
    faults.onSend(from, to, message);
  }

  private void deliver(SimulatedActivator from, SimulatedActivator to, int side, int its,
      PeerMessage message) {
    if (its == connection && connected[1 - side] && (open || !underWayIsLost)) {
      beats[side] |= message instanceof PeerMessage.Beat;
      for (var each : faults.changed(from, to, message)) {
        to.lending().onReceived(from.id(), each);
      }
      if (random.nextInt(20) == 0 && !(message instanceof PeerMessage.Beat)) {
        // Comes twice.
        to.lending().onReceived(from.id(), message);
      }
    }
  }

  private long now() {
    return world.elapsed().toNanos();
  }
}
