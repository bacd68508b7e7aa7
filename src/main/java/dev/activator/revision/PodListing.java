package dev.activator.revision;

/**
 * A revision's private Endpoints, by the protocol of the port. Which of the two counts is known
 * once the Revision is; Endpoints may come before it.
 */
public record PodListing(RevisionId revision, Listing http1, Listing h2c) {
  /** The revision's pods when there are none: scaled to zero. */
  public static PodListing none(RevisionId revision) {
    return new PodListing(revision, Listing.NONE, Listing.NONE);
  }

  public Listing on(Protocol protocol) {
    return switch (protocol) {
      case HTTP1 -> http1;
      case H2C -> h2c;
    };
  }
}
