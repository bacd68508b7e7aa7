package dev.activator.testing.faults;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.StatusException;
import java.time.Duration;

/** One way in which a request goes wrong; grouped by where that happens. */
public sealed interface Fault {
  /** Faults that can also strike what is already under way. */
  sealed interface OnOpen extends Fault {}

  /** The request is not what the client sent. */
  sealed interface OnRequest extends Fault {}

  /** The answer is another, late, or none. */
  sealed interface OnAnswer extends Fault {}

  /** The answer is not sent as it should be; watches are not touched. */
  sealed interface OnBody extends Fault {}

  /** A watch tells something else than what happened. */
  sealed interface OnWatch extends Fault {}

  /** The events of a watch are written in another way. */
  sealed interface OnEvents extends Fault {}

  /** Something happens to the connection, which keeps it from then on. */
  sealed interface OnConnection extends Fault {}

  /**
   * A list that takes whatever is there is shown an older state: as it was this many revisions ago.
   * The window must still know it, else the answer is 410.
   */
  record StaleRead(long revisionsBack, Reads reads) implements OnRequest {
    /** Which lists are stale. */
    public enum Reads {
      /** With resourceVersion 0: legal, a cache may be behind. */
      THAT_TAKE_ANYTHING,
      /** All: illegal, for tests that must notice. */
      ALL
    }
  }

  /** The state that a page of a list is from is gone: 410, with a token to go on with. */
  record ExpiredToken() implements OnRequest {}

  /** A page of a list begins with the last object of the one before. */
  record RepeatedItem() implements OnRequest {}

  /** A watch lasts so long, whatever the client wants; seconds are what the API knows. */
  record WatchTimeout(Duration timeout) implements OnRequest {}

  /**
   * This is answered, and the request never arrives. It has no Content-Type if that is empty, and
   * no Retry-After if that is 0.
   */
  record Answer(int code, String contentType, String body, int retryAfterSeconds)
      implements OnAnswer {
    /** What a Kubernetes API says of a failure, in its Status. */
    public static Answer status(StatusException failure) {
      return new Answer(failure.code(), "application/json", failure.status().toString(),
          failure.retryAfterSeconds());
    }

    /** The Status that goes with a code. */
    public static Answer status(int code) {
      return status(Failure.of(code));
    }

    /** Something for people, as proxies send it. */
    public static Answer text(int code, String text) {
      return new Answer(code, "text/plain", text, 0);
    }

    /** A head, and a body of no bytes. */
    public static Answer empty(int code) {
      return new Answer(code, "application/json", "", 0);
    }

    /** The same, with the wish to be asked later. */
    public Answer retryAfter(int seconds) {
      return new Answer(code, contentType, body, seconds);
    }
  }

  /** A head, and a body that never comes and never ends. */
  record EndlessAnswer(int code) implements OnAnswer {}

  /** Nothing is ever answered. */
  record NoAnswer() implements OnAnswer {}

  /** The request waits before it is looked at. */
  record LateAnswer(Pause pause) implements OnAnswer {}

  /** The request does what it does, and then its connection breaks instead of an answer. */
  record LostAnswer() implements OnBody {}

  /** A write is refused as if another had come before it; nothing is written. */
  record RefusedWrite(Reason reason) implements OnAnswer {
    /** Why. */
    public enum Reason {
      CONFLICT,
      ALREADY_EXISTS
    }
  }

  /** The head comes, and the body after a pause. */
  record LateBody(Pause pause) implements OnBody {}

  /** A list is wrong in this way. */
  record BrokenList(Flaw flaw) implements OnBody {
    /** What is wrong. */
    public enum Flaw {
      /** The connection ends in the middle of it. */
      TRUNCATED,
      /** Content-Length says more than there is; then the connection ends. */
      LENGTH_TOO_LARGE,
      /** Content-Length says less than there is: what the client reads ends too early. */
      LENGTH_TOO_SMALL,
      NO_CONTENT_TYPE,
      ITEMS_NULL,
      /** No resourceVersion in the list's metadata. */
      NO_REVISION
    }
  }

  /** The watch ends as if its time were over. */
  record EndWatch(When when) implements OnWatch, OnOpen {
    public EndWatch {
      When.checkForWatch(when);
    }
  }

  /** The watch tells a failure, and ends or not. */
  record FailWatch(When when, StatusException failure, Ending ending) implements OnWatch, OnOpen {
    public FailWatch {
      When.checkForWatch(when);
    }

    /** What follows the failure. */
    public enum Ending {
      /** The end, in the same breath. */
      AT_ONCE,
      /** The end, a second later, as the server does it. */
      LATER,
      /** Nothing: the client must close. */
      NEVER
    }
  }

  /** An event comes twice; events are counted from 1, without bookmarks. */
  record Duplicate(int event, As as) implements OnWatch {
    /** What it is the second time. */
    public enum As {
      THE_SAME,
      ADDED
    }
  }

  /** An event does not come. Illegal: a test must notice. */
  record Drop(int event) implements OnWatch {}

  /** An event comes after the next one that fits, of another key, or (illegal) of the same. */
  record Swap(int event, Of of) implements OnWatch {
    /** Whose events change places. */
    public enum Of {
      DIFFERENT_KEYS,
      ONE_KEY
    }
  }

  /** Bookmarks are not as they should be. */
  record Bookmarks(Flaw flaw) implements OnWatch {
    /** What is wrong with them. */
    public enum Flaw {
      /** There are none, not even at the end of the initial events. */
      NONE,
      /** The end of the initial events is not marked. */
      END_NOT_MARKED,
      /** Each comes twice. */
      DUPLICATED,
      /** They tell a revision before the one they should. */
      LOWER_REVISION,
      /** The end of the initial events is marked before the last of them. */
      BEFORE_THE_LAST
    }
  }

  /** A bookmark comes this often, with the revision of the last event. */
  record FrequentBookmarks(Duration period) implements OnWatch {}

  /** Among the initial events, the last object changes, or goes and comes back. */
  record EarlyChange(ApiStoreChange.Type type) implements OnWatch {}

  /** The watch takes no more events after this many: it becomes too slow for the cache. */
  record StopTaking(int afterEvents) implements OnWatch {}

  /** Characters beyond ASCII are not escaped. */
  record RawUtf8() implements OnEvents {}

  /** An event is not what a client can read; events are counted from 1, bookmarks too. */
  record Malformed(int event, Shape shape) implements OnEvents {
    /** What it looks like. */
    public enum Shape {
      TRUNCATED_JSON,
      UNKNOWN_TYPE,
      UNKNOWN_KIND,
      NO_METADATA,
      OTHER_KIND,
      /** Five megabytes of it. */
      HUGE
    }
  }

  /** Each event is late. */
  record LateEvents(Pause pause) implements OnEvents {}

  /** The connection is reset. */
  record Reset(When when) implements OnConnection, OnOpen {}

  /** Nothing is read or sent any more for so long, the end included; the socket stays. */
  record HalfOpen(When when, Duration duration) implements OnConnection, OnOpen {}

  /** Bytes are sent this many at a time, with pauses between. */
  record Fragments(int bytes, Pause pause) implements OnConnection {
    /** Without pauses. */
    public static Fragments of(int bytes) {
      return new Fragments(bytes, Pause.of(Duration.ZERO));
    }
  }

  /** What is sent within so long is sent in one piece. */
  record Bursts(Duration period) implements OnConnection {}

  /** Pings on a WebSocket are not answered. */
  record IgnoredPings() implements OnConnection {}

  /** The messages of a WebSocket are binary. */
  record BinaryMessages() implements OnConnection {}

  /** A WebSocket is closed with this code. */
  record CloseCode(int code) implements OnConnection {}
}
