package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessage.Beat;
import dev.activator.ext.lending.PeerMessage.View;
import dev.activator.ext.lending.PeerMessage.Yield;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/** A rule of the protocol that the simulation leaves out, to show that it would be noticed. */
enum Faults {
  NONE,
  /** A view counts as answered as soon as it is sent. */
  NO_ANSWER_NEEDED {
    @Override
    void onSend(SimulatedActivator from, SimulatedActivator to, PeerMessage message) {
      if (message instanceof View view) {
        from.loop().execute(() -> from.lending().onReceived(to.id(),
            new Yield(view.revision(), view.epoch(), Long.MAX_VALUE, Map.of())));
      }
    }
  },
  /** What was lent is free when the link is lost. */
  FREE_ON_DISCONNECT {
    @Override
    void onDisconnect(SimulatedActivator at, SimulatedActivator from) {
      at.lending().onEnded(from.id());
    }
  },
  /**
   * A lease begins when the answer to a beat comes, not when the beat was sent. Matters only to one that
   * is busy for longer than a minute; {@link LendingTransitionsTest} has it.
   */
  LEASE_FROM_ANSWER {
    private final Map<SimulatedActivator, Map<PeerId, Long>> lastBeats = new WeakHashMap<>();

    @Override
    void onSend(SimulatedActivator from, SimulatedActivator to, PeerMessage message) {
      if (message instanceof Beat beat) {
        lastBeats.computeIfAbsent(from, _ -> new HashMap<>()).put(to.id(), beat.number());
      }
    }

    @Override
    List<PeerMessage> changed(SimulatedActivator from, SimulatedActivator to, PeerMessage message) {
      return message instanceof Beat beat && beat.answered() > 0
          ? List.of(new Beat(beat.number(), lastBeats.get(to).get(from.id())))
          : List.of(message);
    }
  },
  /** The new owner issues permits in its view, and the old one in the other. */
  OWNED_IN_BOTH_VIEWS,
  /** The old owner does not say what it still runs. */
  YIELDS_WITHOUT_WHAT_RUNS {
    @Override
    List<PeerMessage> changed(SimulatedActivator from, SimulatedActivator to, PeerMessage message) {
      return message instanceof Yield yield
          ? List.of(new Yield(yield.revision(), yield.epoch(), yield.account(), Map.of()))
          : List.of(message);
    }
  };

  void onSend(SimulatedActivator from, SimulatedActivator to, PeerMessage message) {
    // Nothing.
  }

  void onDisconnect(SimulatedActivator at, SimulatedActivator from) {
    // Nothing.
  }

  List<PeerMessage> changed(SimulatedActivator from, SimulatedActivator to, PeerMessage message) {
    return List.of(message);
  }
}
