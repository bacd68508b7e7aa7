package dev.activator.testing.faults;

import dev.activator.embedded.api.store.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Which requests a rule is about. It begins with all of them, and each word narrows it:
 * {@code Match.requests(WATCH).of(ENDPOINTS).over(WEBSOCKET).nth(2)}.
 *
 * @param verbs any of these; empty for all
 * @param where the objects they are about
 * @param from who asks, and how
 * @param turn which of those that fit
 */
public record Match(Set<Verb> verbs, Where where, From from, Turn turn) {
  private static final Where ANYWHERE = new Where("", "", "");

  /** Objects, by what is not empty here. */
  record Where(String resource, String namespace, String name) {
    boolean fits(Asked.About about) {
      return fits(resource, about.resource()) && fits(namespace, about.namespace())
          && fits(name, about.name());
    }

    private static boolean fits(String wanted, String found) {
      return wanted.isEmpty() || wanted.equals(found);
    }
  }

  /**
   * Callers.
   *
   * @param agent what their User-Agent has in it
   * @param transports how they may want to be answered
   * @param parameters that their query must have; an empty value is any
   */
  record From(String agent, Set<Asked.Transport> transports, Map<String, String> parameters) {
    boolean fits(Asked asked) {
      return asked.header("User-Agent").contains(agent) && transports.contains(asked.transport())
          && parameters.entrySet().stream().allMatch(wanted -> fits(wanted, asked));
    }

    private static boolean fits(Map.Entry<String, String> wanted, Asked asked) {
      String sent = asked.parameter(wanted.getKey());
      return wanted.getValue().isEmpty() ? !sent.isEmpty() : sent.equals(wanted.getValue());
    }
  }

  /** Requests with one of these verbs; with none given, all requests. */
  public static Match requests(Verb... verbs) {
    return new Match(Set.of(verbs), ANYWHERE,
        new From("", Set.of(Asked.Transport.values()), Map.of()), new Turn.Each());
  }

  /** Those about objects of this kind. */
  public Match of(Kind kind) {
    return with(new Where(kind.resource(), where.namespace(), where.name()));
  }

  /** Those whose path names this namespace. */
  public Match in(String namespace) {
    return with(new Where(where.resource(), namespace, where.name()));
  }

  /** Those whose path names this object. */
  public Match named(String name) {
    return with(new Where(where.resource(), where.namespace(), name));
  }

  /** Those whose User-Agent has this in it. */
  public Match by(String agent) {
    return with(new From(agent, from.transports(), from.parameters()));
  }

  /** Those that want to be answered this way. */
  public Match over(Asked.Transport transport) {
    return with(new From(from.agent(), Set.of(transport), from.parameters()));
  }

  /** Those whose query has this parameter, with any value. */
  public Match having(String parameter) {
    return having(parameter, "");
  }

  /** Those whose query says this. */
  public Match having(String parameter, String value) {
    var wanted = new HashMap<>(from.parameters());
    wanted.put(parameter, value);
    return with(new From(from.agent(), from.transports(), Map.copyOf(wanted)));
  }

  /** The first of them. */
  public Match first() {
    return nth(1);
  }

  /** One of them. */
  public Match nth(long number) {
    return with(new Turn.Nth(number));
  }

  /** Every so manieth of them. */
  public Match everyKth(long step) {
    return with(new Turn.EveryKth(step));
  }

  /** Each of them with this probability. */
  public Match withChance(double probability) {
    return with(new Turn.Chance(probability));
  }

  /** Whether a request is one of these, whosever turn it is. */
  public boolean fits(Asked asked) {
    return (verbs.isEmpty() || verbs.contains(asked.verb())) && where.fits(asked.about())
        && from.fits(asked);
  }

  private Match with(Where narrower) {
    return new Match(verbs, narrower, from, turn);
  }

  private Match with(From narrower) {
    return new Match(verbs, where, narrower, turn);
  }

  private Match with(Turn narrower) {
    return new Match(verbs, where, from, narrower);
  }
}
