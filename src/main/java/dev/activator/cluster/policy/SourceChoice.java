package dev.activator.cluster.policy;

/**
 * Which objects addresses are read from, and why.
 *
 * @param kind the objects
 * @param reason in words that follow a colon
 * @param barred whether EndpointSlices could not be listed at all
 */
public record SourceChoice(Kind kind, String reason, boolean barred) {
  private SourceChoice(Kind kind, String reason) {
    this(kind, reason, false);
  }

  /** The kinds of objects that hold addresses. */
  public enum Kind {
    SLICES("EndpointSlices"), ENDPOINTS("Endpoints");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** What a list of the objects of revisions came to. */
  public enum Found {
    SOME, NONE, FORBIDDEN, NOT_SERVED
  }

  /** The one that people have made. */
  public static SourceChoice given(Kind kind) {
    return new SourceChoice(kind, "activator.endpoints-source says so");
  }

  /** Whether a later look can make it another one. */
  public boolean mayChange() {
    return kind == Kind.SLICES || barred;
  }

  /**
   * The choice after a later look at EndpointSlices. It is another one only where these can newly be
   * listed, or newly cannot: as to their contents, the first look decides.
   */
  public SourceChoice after(Found slices) {
    return switch (slices) {
      case FORBIDDEN, NOT_SERVED -> kind == Kind.SLICES ? of(slices, Found.SOME, false) : this;
      case SOME -> barred ? of(slices, Found.SOME, true) : this;
      case NONE -> this;
    };
  }

  /**
   * The choice after a look at both. EndpointSlices are better, as they are never cut off; but they
   * must be there, and carry the labels by which a revision's are known.
   *
   * @param slices that carry these labels
   * @param endpoints likewise
   * @param written whether a controller that copies labels is seen to write EndpointSlices at all
   */
  public static SourceChoice of(Found slices, Found endpoints, boolean written) {
    return switch (slices) {
      case NOT_SERVED -> new SourceChoice(Kind.ENDPOINTS,
          "the Kubernetes API does not serve discovery.k8s.io/v1", true);
      case FORBIDDEN -> new SourceChoice(Kind.ENDPOINTS,
          "the Kubernetes API does not let us list endpointslices (403)", true);
      case SOME -> new SourceChoice(Kind.SLICES, "they carry the labels of revisions");
      case NONE -> ofNone(endpoints, written);
    };
  }

  private static SourceChoice ofNone(Found endpoints, boolean written) {
    return switch (endpoints) {
      case SOME -> new SourceChoice(Kind.ENDPOINTS,
          "no EndpointSlice carries the labels of revisions");
      case FORBIDDEN, NOT_SERVED -> new SourceChoice(Kind.SLICES,
          "the Kubernetes API does not let us list endpoints");
      case NONE -> written
          ? new SourceChoice(Kind.SLICES, "there is no revision yet, and they will have its labels")
          : new SourceChoice(Kind.ENDPOINTS,
              "there is no revision yet, and nothing writes EndpointSlices");
    };
  }
}
