package dev.activator.observability.request;

/**
 * The time in which a revision got its first pod that answers.
 *
 * <p>
 * <b>Units.</b> Points in time are nanoseconds of the loops' clock.
 *
 * @param number which start of the revision it is, counted from 1
 * @param listedNanos when that pod was listed
 * @param publishedNanos when it was published
 */
public record PodStart(long number, long listedNanos, long publishedNanos) {

  /** Cuts the time from a request's arrival to its permit into what it waited for. */
  Phases until(long arrivedNanos, long grantedNanos) {
    long listed = Math.clamp(listedNanos, arrivedNanos, grantedNanos);
    long published = Math.clamp(publishedNanos, listed, grantedNanos);
    return new Phases(listed - arrivedNanos, published - listed, grantedNanos - published, 0, 0);
  }
}
