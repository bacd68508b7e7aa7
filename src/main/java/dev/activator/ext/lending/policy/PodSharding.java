package dev.activator.ext.lending.policy;

import dev.activator.revision.Destination;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Divides the pods of a revision among the activators. Each pod has one owner, which each activator
 * computes from the same objects of the cluster.
 *
 * <p>If all activators lend, a pod belongs to the activator that scores highest for it (rendezvous
 * hashing). The result does not depend on other pods, and if an activator comes or goes, only its
 * own pods move. Otherwise pods are divided by Knative's rule, because an activator without lending
 * knows no other.
 *
 * @param activators addresses, sorted as text
 * @param pods in order; used for Knative's rule only
 */
public record PodSharding(List<String> activators, boolean allLend, List<Destination> pods) {
  /** The value without activators. No pod has an owner. */
  public static final PodSharding NONE = new PodSharding(List.of(), true, List.of());

  public PodSharding {
    activators = List.copyOf(activators);
    pods = allLend ? List.of() : List.copyOf(pods);
  }

  /**
   * The number of the view. It is equal for activators that know the same ones, if all lend;
   * never 0 or −1.
   */
  public long view() {
    long hash = 1;
    for (var activator : activators) {
      hash = mix(hash ^ hash(activator));
    }
    return hash == 0 || hash == -1 ? 1 : hash;
  }

  /**
   * The number of the view if there is no limit. It differs from {@link #view} even with the same
   * activators.
   */
  public long viewWithoutLimit() {
    return mix(view());
  }

  /** The address of the pod's owner; null if several activators send requests to it, or it is unknown. */
  public @Nullable String owner(Destination pod) {
    return allLend ? highestScore(pod) : ofSlice(Collections.binarySearch(pods, pod));
  }

  private @Nullable String highestScore(Destination pod) {
    String best = null;
    long bestScore = 0;
    long key = hash(pod.toString());
    for (var activator : activators) {
      long score = mix(key ^ hash(activator));
      if (best == null || score > bestScore) {
        best = activator;
        bestScore = score;
      }
    }
    return best;
  }

  /**
   * The owner of a position by the inverse of Knative's {@code assignSlice}: blocks of equal size,
   * then the remainder.
   */
  private @Nullable String ofSlice(int position) {
    int count = activators.size();
    if (position < 0 || count == 0 || pods.size() < count) {
      return null;
    }
    int block = pods.size() / count;
    int inBlocks = block * count;
    return activators.get(position < inBlocks ? position / block : position - inBlocks);
  }

  private static long hash(String text) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
    }
    return mix(hash);
  }

  /** The finalizer of SplitMix64. Each bit of the result depends on all bits. */
  private static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}
