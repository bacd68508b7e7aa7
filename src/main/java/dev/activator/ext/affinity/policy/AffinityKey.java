package dev.activator.ext.affinity.policy;

import dev.activator.revision.Destination;
import java.util.List;

/**
 * What belongs together: the hash of a header's, cookie's or parameter's value, with the order in which
 * the key prefers pods. When a pod is added or removed, only its own keys move. All activators have the
 * same order, so the hash must not change between versions.
 *
 * <p>128 bits, so that a value of any length takes 16 bytes, and two values never meet by chance.
 *
 * <p><b>Source.</b> Rendezvous hashing: Thaler and Ravishankar, 1998; the mixing is that of
 * {@code SplittableRandom}.
 */
public record AffinityKey(long high, long low) {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long PRIME = 0x100000001B3L;

  public static AffinityKey of(String value) {
    long high = GOLDEN;
    long low = value.length();
    for (int i = 0; i < value.length(); i++) {
      char next = value.charAt(i);
      high = (high ^ next) * PRIME;
      low = Long.rotateLeft(low * GOLDEN, 29) + next;
    }
    return new AffinityKey(mixed(high ^ Long.rotateLeft(low, 32)), mixed(low + high * GOLDEN));
  }

  /** How much the key prefers a pod. */
  public long score(Destination pod) {
    return mixed(high ^ mixed(pod.hashCode() * GOLDEN));
  }

  /** The pod that the key prefers most; of equal ones the first. There must be one. */
  public Destination first(List<Destination> pods) {
    var best = pods.getFirst();
    long highest = score(best);
    for (var pod : pods) {
      long score = score(pod);
      if (score > highest) {
        best = pod;
        highest = score;
      }
    }
    return best;
  }

  private static long mixed(long bits) {
    long first = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
    long second = (first ^ first >>> 27) * 0x94D049BB133111EBL;
    return second ^ second >>> 31;
  }
}
