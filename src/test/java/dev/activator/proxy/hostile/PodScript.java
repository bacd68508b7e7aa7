package dev.activator.proxy.hostile;

import java.util.List;

/**
 * What a pod does with one request.
 *
 * @param interims statuses that come before the response
 * @param parts how many pieces the body has
 * @param emptyParts whether DATA without bytes comes between the pieces, in HTTP/2
 * @param forbiddenBody whether a body is sent where there may be none, in HTTP/2
 * @param switches whether it answers 101
 * @param cutAfter how many steps of the response come before the cut: one for each interim, the
 *     head, each piece and the end
 * @param code of RST_STREAM
 * @param takes whether it reads the request's body, in HTTP/1
 * @param floods control frames before each step, in HTTP/2
 */
record PodScript(Begin begin, List<Integer> interims, int status, Framing framing, int parts,
    int partBytes, boolean emptyParts, boolean trailers, boolean forbiddenBody, boolean switches,
    Cut cut, int cutAfter, int code, boolean takes, int floods) {
  static final int REFUSED_STREAM = 7;

  /** When the response begins. */
  enum Begin {
    AT_HEAD,
    AT_BODY,
    AT_END,
    NEVER
  }

  enum Framing {
    LENGTH,
    /** Chunks, or DATA without a length. */
    STREAM,
    /** Ends with the connection, in HTTP/1. */
    CONNECTION
  }

  enum Cut {
    NONE,
    ENDS_OUTPUT,
    CLOSES,
    RESETS,
    /** What was sent before may be lost. */
    RESETS_AT_ONCE,
    RESETS_STREAM,
    /** The request is served, and the connection takes no more. */
    GOES_AWAY,
    /** The request was not processed. */
    GOES_AWAY_BELOW,
    /** Sends nothing more. */
    FALLS_SILENT;

    boolean endsConnection() {
      return this == ENDS_OUTPUT || this == CLOSES || this == RESETS || this == RESETS_AT_ONCE;
    }

    boolean isForHttp2() {
      return this == RESETS_STREAM || this == GOES_AWAY || this == GOES_AWAY_BELOW;
    }
  }

  /** How far the response is when the cut comes. */
  enum Stage {
    NOTHING,
    INTERIM,
    HEAD,
    COMPLETE
  }

  static PodScript ok() {
    return new PodScript(Begin.AT_END, List.of(), 200, Framing.LENGTH, 1, 2, false, false, false,
        false, Cut.NONE, 0, 0, true, 0);
  }

  boolean isBodyless(CallerScript.Method method) {
    return method == CallerScript.Method.HEAD || status == 204 || status == 205 || status == 304;
  }

  /** How many steps the response has. */
  int steps(CallerScript.Method method) {
    return interims.size() + 1
        + (switches || isBodyless(method) && !forbiddenBody ? 0 : parts + 1);
  }

  Stage stage(CallerScript.Method method, boolean http2) {
    if (cutAfter < interims.size() + 1) {
      return cutAfter == 0 ? Stage.NOTHING : Stage.INTERIM;
    }
    boolean whole = cutAfter >= steps(method)
        || !http2 && framing == Framing.LENGTH && cutAfter >= steps(method) - 1;
    return whole ? Stage.COMPLETE : Stage.HEAD;
  }

  boolean refusesStream() {
    return cut == Cut.RESETS_STREAM && code == REFUSED_STREAM;
  }

  /** Whether the pod has said that it did nothing. */
  boolean isUnprocessed() {
    return cut == Cut.GOES_AWAY_BELOW || refusesStream();
  }
}
