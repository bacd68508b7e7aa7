package dev.activator.cluster.endpoints;

import dev.activator.cluster.FactHandler;
import dev.activator.cluster.decode.Addresses;
import dev.activator.cluster.policy.Slice.Owner;
import dev.activator.cluster.policy.Slice.Role;
import dev.activator.cluster.policy.SourceChoice;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What all objects of one kind say of pods and activators. It passes changes on once it is the one
 * that is believed.
 *
 * <p>
 * <b>Threads.</b> One.
 */
final class Reading implements FactHandler.Listener<Addresses> {
  private final SourceChoice choice;
  private final FactHandler.Listener<Addresses> out;
  private final Map<Owner, Addresses> said = new HashMap<>();
  private boolean believed;

  /** @param out told of changes while this is believed */
  Reading(SourceChoice choice, FactHandler.Listener<Addresses> out) {
    this.choice = choice;
    this.out = out;
  }

  SourceChoice choice() {
    return choice;
  }

  /** What it says now, which nobody may change. */
  Map<Owner, Addresses> said() {
    return said;
  }

  void believe() {
    believed = true;
  }

  void doubt() {
    believed = false;
  }

  @Override
  public void changed(@Nullable Addresses before, @Nullable Addresses now) {
    if (before != null) {
      said.remove(owner(before));
    }
    if (now != null) {
      said.put(owner(now), now);
    }
    if (believed) {
      out.changed(before, now);
    }
  }

  private static Owner owner(Addresses of) {
    return new Owner(of.revision(), switch (of) {
      case Addresses.OfPods pods -> Role.PODS;
      case Addresses.OfActivators activators -> Role.ACTIVATORS;
    });
  }
}
