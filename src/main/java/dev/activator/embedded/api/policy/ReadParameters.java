package dev.activator.embedded.api.policy;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The parameters of a list or a watch.
 *
 * <p><b>Source.</b> {@code apis/meta/internalversion/validation/validation.go} in Kubernetes'
 * apimachinery, and {@code storage/cacher/delegator} in its apiserver.
 *
 * @param match {@code Exact}, {@code NotOlderThan}, or empty
 * @param limit the maximum number of objects on a page; 0 for no limit
 */
public record ReadParameters(String resourceVersion, String match,
    Optional<Boolean> sendInitialEvents, long limit, boolean continuing) {
  private static final String MATCH = "resourceVersionMatch";
  private static final Set<String> NO = Set.of("false", "0");

  public sealed interface Freshness {
    record Whatever() implements Freshness {}

    /** At least as new as the last write before the read. */
    record Newest() implements Freshness {}

    record AtLeast(long revision) implements Freshness {}

    record Exactly(long revision) implements Freshness {}
  }

  public sealed interface WatchStart {
    /** First all objects, as added, and then events. */
    record Snapshot(Freshness freshness) implements WatchStart {}

    /** Events after this revision. */
    record After(long revision) implements WatchStart {}

    /** Events that follow a state of this freshness. */
    record Now(Freshness freshness) implements WatchStart {}
  }

  public static final class InvalidParameter extends IllegalArgumentException {
    public enum Flaw {
      MALFORMED,
      FORBIDDEN,
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

    public String field() {
      return field;
    }
  }

  /** Whether a value means yes. As in Kubernetes, only "false" and "0" mean no. */
  public static boolean isYes(String value) {
    return !NO.contains(value.toLowerCase(Locale.ROOT));
  }

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

  /** Whether the list has pages. A list at resourceVersion 0 never has. */
  public boolean paged() {
    return limit > 0 && !resourceVersion.equals("0");
  }

  public WatchStart watch() {
    checkWatch();
    boolean initial = sendInitialEvents.orElse(unsetOrZero());
    if (initial) {
      return new WatchStart.Snapshot(atLeast());
    }
    return unsetOrZero() ? new WatchStart.Now(atLeast()) : new WatchStart.After(revision());
  }

  /** The freshness of a get; empty if it should read the store itself. */
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

  /** Checks the parameters of a further page, whose state its token names. */
  public void checkContinued() {
    checkMatch();
    if (!resourceVersion.isEmpty() && !resourceVersion.equals("0")) {
      throw new InvalidParameter(InvalidParameter.Flaw.MALFORMED, "resourceVersion",
          "specifying resource version is not allowed when using continue");
    }
  }

  private void checkMatch() {
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
    } catch (NumberFormatException e) {
      // The number is too large.
    }
    throw new InvalidParameter(InvalidParameter.Flaw.MALFORMED, "resourceVersion",
        "invalid resource version: resourceVersion: Invalid value: \"" + resourceVersion
            + "\": it must be a number of at most " + Long.MAX_VALUE);
  }

  private static InvalidParameter forbidden(String field, String message) {
    return new InvalidParameter(InvalidParameter.Flaw.FORBIDDEN, field, "Forbidden: " + message);
  }
}
