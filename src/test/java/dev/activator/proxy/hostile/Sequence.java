package dev.activator.proxy.hostile;

import java.util.List;

/**
 * One sequence: a few exchanges of one caller, or of several at once, with one pod.
 *
 * @param podSpeaksOther whether the pod speaks another version than it is asked in
 * @param podRefuses whether the pod accepts no connections
 * @param oneConnection whether the exchanges share the caller's connection: pipelined in HTTP/1
 * @param concurrencyLimit of the pod; 0 for none
 * @param podStreams SETTINGS_MAX_CONCURRENT_STREAMS
 * @param warm whether the pod has an idle connection when the first exchange begins
 * @param drains whether callers are asked to leave at some time, which HTTP/1 does with its responses
 */
record Sequence(long seed, Version version, boolean podSpeaksOther, boolean podRefuses,
    boolean oneConnection, boolean warm, boolean drains, int concurrencyLimit, int podStreams,
    int podWindow,
    boolean podGrants, int callerWindow, List<Plan> plans) {
  enum Version {
    HTTP_1_0,
    HTTP_1_1,
    HTTP_2;

    boolean isHttp2() {
      return this == HTTP_2;
    }
  }

  /** No sequence in HTTP/1 has what only HTTP/2 has, nor the reverse. */
  Sequence {
    if (podStreams < 1 || podWindow < 1 || callerWindow < 1 || plans.isEmpty()) {
      throw new IllegalArgumentException("no streams, windows or plans");
    }
    for (int i = 0; i < plans.size(); i++) {
      var caller = plans.get(i).caller();
      var pod = plans.get(i).first();
      boolean onlyHttp2 = pod.cut().isForHttp2() || pod.forbiddenBody()
          || caller.leaving() == CallerScript.Leaving.RESETS_STREAM;
      boolean onlyHttp1 = pod.framing() == PodScript.Framing.CONNECTION || caller.upgrades();
      if (caller.partBytes() < 1 || pod.partBytes() < 1
          || (version.isHttp2() ? onlyHttp1 : onlyHttp2)
          || version == Version.HTTP_1_0 && (oneConnection || caller.upgrades())) {
        throw new IllegalArgumentException("not in " + version + ": " + plans.get(i));
      }
    }
  }

  /** @param first what the pod does with the request; a copy of it gets {@link PodScript#ok()} */
  record Plan(CallerScript caller, PodScript first) {}

  @Override
  public String toString() {
    var text = new StringBuilder("seed " + seed + ": " + version
        + (podSpeaksOther ? ", pod speaks another version" : "")
        + (podRefuses ? ", pod refuses connections" : "")
        + (oneConnection ? ", one connection" : "") + (warm ? ", warm" : "")
        + (drains ? ", drains" : "")
        + ", concurrency limit " + concurrencyLimit + ", pod's streams " + podStreams + " window "
        + podWindow + (podGrants ? "" : " never grants") + ", caller's window " + callerWindow);
    for (int i = 0; i < plans.size(); i++) {
      text.append("\n  /").append(i).append(' ').append(plans.get(i).caller()).append("\n     ")
          .append(plans.get(i).first());
    }
    return text.toString();
  }
}
