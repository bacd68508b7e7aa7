package dev.activator.embedded.api.policy;

import dev.activator.embedded.api.policy.Freshness.AtLeast;
import dev.activator.embedded.api.policy.Freshness.Exactly;
import dev.activator.embedded.api.policy.Freshness.Newest;
import dev.activator.embedded.api.policy.Freshness.Whatever;
import dev.activator.embedded.api.policy.InvalidParameter.Flaw;
import java.util.Optional;

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
 * @param limit at most so many objects in one list; 0 for all
 * @param continuing whether a token of an earlier page came with it
 */
public record ReadParameters(String resourceVersion, String match,
    Optional<Boolean> sendInitialEvents, long limit, boolean continuing) {
  private static final String MATCH = "resourceVersionMatch";

  /** What a list without a token must see. */
  public Freshness list() {
    if (sendInitialEvents.isPresent()) {
      throw forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    checkMatch();
    if (resourceVersion.isEmpty()) {
      return new Newest();
    }
    long revision = revision();
    if (revision == 0) {
      return new Whatever();
    }
    boolean exact = match.equals("Exact") || (match.isEmpty() && limit > 0);
    return exact ? new Exactly(revision) : new AtLeast(revision);
  }

  /** Whether a list is cut into pages: one that takes what is at hand never is. */
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
      return new Newest();
    }
    long revision = revision();
    return revision == 0 ? new Whatever() : new AtLeast(revision);
  }

  private boolean unsetOrZero() {
    return resourceVersion.isEmpty() || revision() == 0;
  }

  /** Refuses a match that does not go with the rest. */
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
      throw new InvalidParameter(Flaw.UNSUPPORTED, MATCH, "Unsupported value: \"" + match
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
      // Not a version either.
    }
    throw new InvalidParameter(Flaw.MALFORMED, "resourceVersion",
        "invalid resource version: resourceVersion: Invalid value: \"" + resourceVersion
            + "\": it must be a number of at most " + Long.MAX_VALUE);
  }

  private static InvalidParameter forbidden(String field, String message) {
    return new InvalidParameter(Flaw.FORBIDDEN, field, "Forbidden: " + message);
  }
}
