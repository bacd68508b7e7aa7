package dev.activator.revision;

/**
 * A revision's private Endpoints, by the port's protocol. They may come before the Revision, which
 * says which of the two counts.
 */
public record PodListing(RevisionId revision, Listing http1, Listing h2c) {
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
