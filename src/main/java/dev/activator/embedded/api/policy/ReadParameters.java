package dev.activator.embedded.api.policy;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What a list or a watch asks for, as its query has it.
 *
 * <p>
 * <b>Source.</b> {@code apis/meta/internalversion/validation/validation.go} in Kubernetes'
 * apimachinery, and {@code storage/cacher/delegator} in its apiserver.
 *
 * @param resourceVersion a number, or empty for none
 * @param match {@code Exact}, {@code NotOlderThan}, or empty
 * @param sendInitialEvents whether a watch begins with what is there; empty if it does not say
 * @param limit of objects in one list; 0 for none
 * @param continuing whether a token of an earlier page came with it
 */
public record ReadParameters(String resourceVersion, String match,
    Optional<Boolean> sendInitialEvents, long limit, boolean continuing) {
  private static final String MATCH = "resourceVersionMatch";
  /** The only words for "no", of all that the value of a flag may be. */
  private static final Set<String> NO = Set.of("false", "0");

  /** How new the state must be that a read sees. */
  public sealed interface Freshness {
    /** Any state. */
    record Whatever() implements Freshness {}

    /** As new as the newest write there was when the read came. */
    record Newest() implements Freshness {}

    /** At least as new as this. */
    record AtLeast(long revision) implements Freshness {}

    /** As it was at this revision. */
    record Exactly(long revision) implements Freshness {}
  }

  /** Where a watch begins. */
  public sealed interface WatchStart {
    /** With all objects as added, then what follows. */
    record Snapshot(Freshness freshness) implements WatchStart {}

    /** With the first event after this revision. */
    record After(long revision) implements WatchStart {}

    /** With what comes after now, as old as the server's "now" may be. */
    record Now(Freshness freshness) implements WatchStart {}
  }

  /** A parameter that cannot be served. */
  public static final class InvalidParameter extends IllegalArgumentException {
    /** What is wrong with it. */
    public enum Flaw {
      /** It cannot be read at all. */
      MALFORMED,
      /** It may not be given together with the others. */
      FORBIDDEN,
      /** It has a value that is not known. */
      UNSUPPORTED
    }

    private final Flaw flaw;
    private final String field;

    InvalidParameter(Flaw flaw, String field, String message) {
      super(message);
      this.flaw = flaw;
      this.field = field;
    }

    public Flaw flaw() {
      return flaw;
    }

    /** The parameter's name. */
    public String field() {
      return field;
    }
  }

  /**
   * Whether the value of a flag that was sent, perhaps without a value, says yes.
   *
   * <p>
   * <b>Source.</b> {@code Convert_Slice_string_To_bool} in Kubernetes' apimachinery.
   */
  public static boolean isYes(String value) {
    return !NO.contains(value.toLowerCase(Locale.ROOT));
  }

  /** What a list without a token must see. */
  public Freshness list() {
    if (sendInitialEvents.isPresent()) {
      throw forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    checkMatch();
    if (resourceVersion.isEmpty()) {
      return new Freshness.Newest();
    }
    long revision = revision();
    if (revision == 0) {
      return new Freshness.Whatever();
    }
    boolean exact = match.equals("Exact") || (match.isEmpty() && limit > 0);
    return exact ? new Freshness.Exactly(revision) : new Freshness.AtLeast(revision);
  }

  /** Whether a list is cut into pages; with resourceVersion 0 it never is. */
  public boolean paged() {
    return limit > 0 && !resourceVersion.equals("0");
  }

  /** Where a watch begins. */
  public WatchStart watch() {
    checkWatch();
    boolean initial = sendInitialEvents.orElse(unsetOrZero());
    if (initial) {
      return new WatchStart.Snapshot(atLeast());
    }
    return unsetOrZero() ? new WatchStart.Now(atLeast()) : new WatchStart.After(revision());
  }

  /** What a read of one object must see; empty for the store itself. */
  public Optional<Freshness> get() {
    return resourceVersion.isEmpty() ? Optional.empty() : Optional.of(atLeast());
  }

  private Freshness atLeast() {
    if (resourceVersion.isEmpty()) {
      return new Freshness.Newest();
    }
    long revision = revision();
    return revision == 0 ? new Freshness.Whatever() : new Freshness.AtLeast(revision);
  }

  private boolean unsetOrZero() {
    return resourceVersion.isEmpty() || revision() == 0;
  }

  /** Refuses an invalid resourceVersionMatch. */
  public void checkMatch() {
    if (match.isEmpty()) {
      return;
    }
    if (continuing) {
      throw forbidden(MATCH, "resourceVersionMatch is forbidden with continue");
    }
    if (resourceVersion.isEmpty()) {
      throw forbidden(MATCH,
          "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!match.equals("Exact") && !match.equals("NotOlderThan")) {
      throw new InvalidParameter(InvalidParameter.Flaw.UNSUPPORTED, MATCH,
          "Unsupported value: \"" + match
              + "\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
    }
    if (match.equals("Exact") && resourceVersion.equals("0")) {
      throw forbidden(MATCH,
          "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
    }
  }

  private void checkWatch() {
    if (sendInitialEvents.isEmpty() && !match.isEmpty()) {
      throw forbidden(MATCH,
          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if (sendInitialEvents.isPresent() && !match.equals("NotOlderThan")) {
      throw forbidden(MATCH,
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
  }

  private long revision() {
    try {
      if (resourceVersion.matches("\\d{1,19}")) {
        return Long.parseLong(resourceVersion);
      }
    } catch (NumberFormatException tooLarge) {
      // Too large.
    }
    throw new InvalidParameter(InvalidParameter.Flaw.MALFORMED, "resourceVersion",
        "invalid resource version: resourceVersion: Invalid value: \"" + resourceVersion
            + "\": it must be a number of at most " + Long.MAX_VALUE);
  }

  private static InvalidParameter forbidden(String field, String message) {
    return new InvalidParameter(InvalidParameter.Flaw.FORBIDDEN, field, "Forbidden: " + message);
  }
}
