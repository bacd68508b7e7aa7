package dev.activator.proxy.hostile;

import dev.activator.proxy.hostile.CallerScript.Leaving;
import dev.activator.proxy.hostile.CallerScript.Method;
import dev.activator.proxy.hostile.CallerScript.Reading;
import dev.activator.proxy.hostile.PodScript.Begin;
import dev.activator.proxy.hostile.PodScript.Cut;
import dev.activator.proxy.hostile.PodScript.Framing;
import dev.activator.proxy.hostile.Sequence.Plan;
import dev.activator.proxy.hostile.Sequence.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Draws sequences. Each seed gives one. */
final class Generator {
  private static final int[] PART_BYTES = {1, 7, 100, 1_000, 3_000};
  private static final int[] STATUSES = {200, 200, 200, 204, 205, 304, 404, 500};
  private static final int[] WINDOWS = {7, 300, 5_000, 65_535, 65_535};
  private static final int MAX_UPDATES = 200;
  private static final int[] CODES = {0, 1, 2, 3, 5, 7, 8, 11, 13};

  /** What a sequence has more of than others. */
  private enum Theme {
    ANYTHING,
    /** Requests whose deadline has passed wait for a connection. */
    HURRY,
    /** Responses come before the end of requests that wait for a window. */
    EARLY_ANSWERS,
    UPGRADES,
    /** Responses end with their connections, one way or another. */
    ENDS,
    /** Callers leave as their responses come, which share a connection to the pod. */
    PARTINGS
  }

  private final Random random;
  private final Theme theme;
  private final Version version;

  private Generator(Random random) {
    this.random = random;
    this.theme = in(2) ? Theme.ANYTHING : one(Theme.values());
    this.version = switch (theme) {
      case HURRY, EARLY_ANSWERS -> one(Version.HTTP_2, Version.HTTP_2, Version.HTTP_1_1);
      case UPGRADES -> Version.HTTP_1_1;
      case PARTINGS -> Version.HTTP_2;
      case ENDS -> one(Version.HTTP_1_0, Version.HTTP_1_1);
      case ANYTHING -> one(Version.values());
    };
  }

  static Sequence sequence(long seed) {
    // Neighbouring seeds would draw nearly the same first number.
    return new Generator(new Random(seed * 0x9E3779B97F4A7C15L)).draw(seed);
  }

  private boolean in(int times) {
    return random.nextInt(times) == 0;
  }

  private int number(int... of) {
    return of[random.nextInt(of.length)];
  }

  @SafeVarargs
  private final <E> E one(E... of) {
    return of[random.nextInt(of.length)];
  }

  private Sequence draw(long seed) {
    boolean partings = theme == Theme.PARTINGS;
    int count = theme == Theme.HURRY ? 8 : partings || in(3) ? 1 + random.nextInt(6) : 1;
    var plans = new ArrayList<Plan>();
    for (int i = 0; i < count; i++) {
      var caller = caller();
      plans.add(new Plan(caller, pod(caller)));
    }
    boolean oneConnection = version.isHttp2()
        ? !in(3) && !partings
        : version == Version.HTTP_1_1 && in(2);
    int bytes = plans.stream()
        .mapToInt(plan -> plan.first().parts() * plan.first().partBytes()).sum();
    int window = number(WINDOWS);
    // Or the caller would send more WINDOW_UPDATEs than the activator allows.
    int callerWindow = bytes / window > MAX_UPDATES ? WINDOWS[WINDOWS.length - 1] : window;
    boolean hurry = theme == Theme.HURRY;
    return new Sequence(seed, version, in(25), in(40), oneConnection, !hurry && in(2),
        !version.isHttp2() && in(4),
        !hurry && in(3) ? 1 + random.nextInt(3) : 0,
        !hurry && in(2) ? 1 + random.nextInt(3) : 100, number(WINDOWS),
        !in(theme == Theme.EARLY_ANSWERS ? 2 : 4), callerWindow, List.copyOf(plans));
  }

  private CallerScript caller() {
    boolean http2 = version.isHttp2();
    var method = one(Method.values());
    boolean early = theme == Theme.EARLY_ANSWERS;
    if (theme == Theme.PARTINGS && !in(4)) {
      return parting(method);
    }
    boolean upgrades = theme == Theme.UPGRADES || version == Version.HTTP_1_1 && in(8);
    boolean body = method == Method.POST || method == Method.PUT || early || in(8);
    int parts = !upgrades && body ? random.nextInt(4) : 0;
    var leaving = in(theme == Theme.PARTINGS ? 2 : 4) ? one(Leaving.values()) : Leaving.STAYS;
    if (leaving == Leaving.RESETS_STREAM && !http2) {
      leaving = Leaving.RESETS;
    }
    var reading = in(8) ? one(Reading.values()) : Reading.ALWAYS;
    return new CallerScript(method, parts, early ? number(100, 1_000, 3_000) : number(PART_BYTES),
        in(2), http2 && in(6), in(4),
        parts > 0 && version != Version.HTTP_1_0 && in(5), theme == Theme.HURRY || in(10), upgrades,
        in(2),
        !in(8), leaving, random.nextInt(parts + 4), number(CODES), reading,
        http2 && in(6) ? random.nextInt(20) : 0);
  }

  /** Leaves as soon as it has asked, if it leaves. */
  private CallerScript parting(Method method) {
    var get = CallerScript.get();
    return new CallerScript(in(2) ? Method.HEAD : method, 0, 1, get.sized(), false, false, false,
        false, false, false, true, one(Leaving.RESETS, Leaving.STAYS, Leaving.CLOSES), 1,
        number(CODES), Reading.ALWAYS, 0);
  }

  private PodScript pod(CallerScript caller) {
    boolean http2 = version.isHttp2();
    var begin = theme == Theme.EARLY_ANSWERS
        ? one(Begin.AT_HEAD, Begin.AT_BODY)
        : in(12) ? Begin.NEVER : in(2) ? Begin.AT_END : one(Begin.values());
    var framing = theme == Theme.ENDS ? Framing.CONNECTION : one(Framing.values());
    if (http2 && framing == Framing.CONNECTION) {
      framing = Framing.STREAM;
    }
    var interims = new ArrayList<Integer>();
    for (int i = in(4) ? random.nextInt(3) : 0; i > 0; i--) {
      interims.add(number(100, 102, 103));
    }
    int parts = framing == Framing.LENGTH && in(6) ? 0 : 1 + random.nextInt(4);
    var cut = theme == Theme.PARTINGS || in(2) ? Cut.NONE : one(Cut.values());
    if (!http2 && cut.isForHttp2()) {
      cut = Cut.NONE;
    }
    boolean switches = caller.upgrades() ? !in(4) : in(40) && !http2;
    var script = new PodScript(begin, List.copyOf(interims), number(STATUSES), framing, parts,
        number(PART_BYTES), http2 && in(6), framing == Framing.STREAM && in(3), http2 && in(3),
        switches, cut, 0, number(CODES), !in(8), http2 && in(6) ? random.nextInt(20) : 0);
    return new PodScript(begin, script.interims(), script.status(), framing, parts,
        script.partBytes(), script.emptyParts(), script.trailers(), script.forbiddenBody(),
        switches, cut, random.nextInt(script.steps(caller.method()) + 1), script.code(),
        script.takes(), script.floods());
  }
}
