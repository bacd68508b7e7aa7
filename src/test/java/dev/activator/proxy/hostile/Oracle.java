package dev.activator.proxy.hostile;

import dev.activator.proxy.hostile.CallerScript.Reading;
import dev.activator.proxy.hostile.PodScript.Cut;
import dev.activator.proxy.hostile.PodScript.Framing;
import dev.activator.proxy.hostile.Sequence.Version;
import java.util.EnumSet;
import java.util.Set;

/** What a caller may see: a function of the scripts alone, in whatever order their steps come. */
final class Oracle {
  private enum Answer {
    NO,
    MAYBE,
    YES
  }

  private Oracle() {}

  static Set<Outcome> expected(Sequence sequence, int index) {
    var plan = sequence.plans().get(index);
    var outcomes = alone(sequence, plan.caller(), plan.first());
    for (int other = 0; other < sequence.plans().size(); other++) {
      if (other != index) {
        outcomes.addAll(disturbed(sequence, other, index));
      }
    }
    if (!sequence.version().isHttp2() && outcomes.contains(Outcome.BROKEN_OFF)) {
      // By a reset, or the caller still sends: what was sent before may be lost.
      outcomes.add(Outcome.UNANSWERED);
    }
    if (sequence.drains() && sequence.oneConnection() && index > 0) {
      // The response before it was the last, which says so.
      outcomes.add(Outcome.UNANSWERED);
    }
    return outcomes;
  }

  private static EnumSet<Outcome> alone(Sequence sequence, CallerScript caller, PodScript pod) {
    if (!caller.stays() || caller.reading() == Reading.NEVER) {
      return EnumSet.allOf(Outcome.class);
    }
    if (sequence.podSpeaksOther() || sequence.podRefuses()) {
      return EnumSet.of(Outcome.REFUSED);
    }
    var outcomes = switch (begins(sequence, caller, pod)) {
      case NO -> EnumSet.of(Outcome.REFUSED);
      case YES -> answered(sequence, caller, pod);
      case MAYBE -> {
        var either = answered(sequence, caller, pod);
        either.add(Outcome.REFUSED);
        yield either;
      }
    };
    if (caller.deadlineOver()) {
      outcomes.add(Outcome.REFUSED);
    }
    return outcomes;
  }

  /** Whether the pod ever sees what it waits for before it answers. */
  private static Answer begins(Sequence sequence, CallerScript caller, PodScript pod) {
    boolean http2 = sequence.version().isHttp2();
    boolean taken = !caller.hasBody() || http2 || pod.takes();
    return switch (pod.begin()) {
      case NEVER -> Answer.NO;
      case AT_HEAD -> Answer.YES;
      case AT_BODY -> taken ? Answer.YES : Answer.MAYBE;
      case AT_END -> {
        if (!caller.hasBody()) {
          yield Answer.YES;
        }
        boolean fits = !http2 || sequence.podGrants() || caller.bodyBytes() <= sequence.podWindow();
        if (!caller.completes() || !fits) {
          yield Answer.NO;
        }
        yield taken ? Answer.YES : Answer.MAYBE;
      }
    };
  }

  private static EnumSet<Outcome> answered(Sequence sequence, CallerScript caller, PodScript pod) {
    boolean http2 = sequence.version().isHttp2();
    boolean ends = pod.cut().endsConnection();
    if (ends && (http2 || caller.hasBody())) {
      // The activator writes, too, and may notice the end so, before it has read the response.
      var any = EnumSet.of(Outcome.REFUSED, Outcome.BROKEN_OFF, Outcome.COMPLETE);
      if (pod.begin() != PodScript.Begin.AT_END || http2 || !pod.takes()) {
        return any;
      }
    }
    var seen = switch (pod.cut()) {
      case NONE, GOES_AWAY -> EnumSet.of(Outcome.COMPLETE);
      default -> switch (pod.stage(caller.method(), http2)) {
        case NOTHING, INTERIM -> beforeHead(caller, pod);
        case HEAD -> withinBody(caller, pod);
        case COMPLETE -> pod.cut() == Cut.RESETS_AT_ONCE
            ? orLost(caller, EnumSet.of(Outcome.COMPLETE))
            : EnumSet.of(Outcome.COMPLETE);
      };
    };
    boolean mayUpgrade = caller.upgrades() && sequence.version() == Version.HTTP_1_1;
    if (pod.switches() && !mayUpgrade) {
      if (pod.cut() == Cut.NONE || pod.cut() == Cut.FALLS_SILENT) {
        seen.remove(Outcome.COMPLETE);
      }
      seen.add(Outcome.REFUSED);
    }
    return seen;
  }

  /** No final head has come. A copy of the request may be answered instead. */
  private static EnumSet<Outcome> beforeHead(CallerScript caller, PodScript pod) {
    boolean mayBeRepeated = pod.isUnprocessed()
        || caller.method().isIdempotent() && pod.cut().endsConnection();
    return mayBeRepeated
        ? EnumSet.of(Outcome.REFUSED, Outcome.COMPLETE)
        : EnumSet.of(Outcome.REFUSED);
  }

  private static EnumSet<Outcome> withinBody(CallerScript caller, PodScript pod) {
    return switch (pod.cut()) {
      case ENDS_OUTPUT, CLOSES -> pod.framing() == Framing.CONNECTION
          ? EnumSet.of(Outcome.COMPLETE)
          : EnumSet.of(Outcome.BROKEN_OFF);
      case RESETS_AT_ONCE -> orLost(caller, EnumSet.of(Outcome.BROKEN_OFF));
      default -> EnumSet.of(Outcome.BROKEN_OFF);
    };
  }

  /** What the pod has sent, or its end, was lost. */
  private static EnumSet<Outcome> orLost(CallerScript caller, EnumSet<Outcome> seen) {
    seen.add(Outcome.BROKEN_OFF);
    seen.add(Outcome.REFUSED);
    if (caller.method().isIdempotent()) {
      seen.add(Outcome.COMPLETE);
    }
    return seen;
  }

  private static EnumSet<Outcome> disturbed(Sequence sequence, int by, int index) {
    boolean http2 = sequence.version().isHttp2();
    var caller = sequence.plans().get(by).caller();
    var pod = sequence.plans().get(by).first();
    boolean sameConnection = sequence.oneConnection();
    if (sameConnection && (caller.endsConnection() || caller.reading() == Reading.NEVER
        || !http2 && by < index && !keepsConnection(sequence, caller, pod))) {
      return EnumSet.allOf(Outcome.class);
    }
    if (http2 && (pod.cut().endsConnection() || pod.cut() == Cut.GOES_AWAY_BELOW)) {
      return EnumSet.of(Outcome.REFUSED, Outcome.BROKEN_OFF, Outcome.COMPLETE);
    }
    var outcomes = EnumSet.noneOf(Outcome.class);
    boolean mayWaitForPermit = sequence.concurrencyLimit() > 0 && !isQuick(sequence, caller, pod);
    // The pod has answered on the connection that this one gets, and reads nothing from it any more.
    boolean mayBeUnread = !http2 && caller.hasBody() && !pod.takes();
    if (mayWaitForPermit || mayBeUnread) {
      outcomes.add(Outcome.REFUSED);
    }
    if (pod.cut().endsConnection()) {
      // It gets a connection that the pod has closed, and a copy of it may be answered.
      boolean mayBeRepeated = sequence.plans().get(index).caller().method().isIdempotent();
      outcomes.add(mayBeRepeated ? Outcome.COMPLETE : Outcome.REFUSED);
    }
    return outcomes;
  }

  private static boolean isQuick(Sequence sequence, CallerScript caller, PodScript pod) {
    return caller.isWhole() && !caller.expects() && caller.reading() != Reading.NEVER
        && !pod.switches()
        && pod.cut() != Cut.FALLS_SILENT && begins(sequence, caller, pod) == Answer.YES;
  }

  /** Whether what follows on the same connection of HTTP/1 is answered in any case. */
  private static boolean keepsConnection(Sequence sequence, CallerScript caller, PodScript pod) {
    return caller.stays() && caller.isWhole() && !caller.expects() && !caller.upgrades()
        && alone(sequence, caller, pod).stream()
            .allMatch(one -> one == Outcome.COMPLETE || one == Outcome.REFUSED);
  }
}
