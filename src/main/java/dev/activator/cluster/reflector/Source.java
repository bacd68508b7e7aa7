package dev.activator.cluster.reflector;

import dev.activator.cluster.informer.VersionedObject;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Where the objects of one kind are listed and watched.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in.
 */
public interface Source<T> {
  /**
   * Lists, watches, and lists again whenever a watch cannot go on, until it is closed.
   *
   * @param known what was heard before: only what is different now is told
   */
  Session open(List<VersionedObject<T>> known, Listener<T> listener);

  /** A fresh list, key to resourceVersion, of no state older than this call. */
  CompletableFuture<Map<String, String>> versions();

  /** Fails as a list would that is made now, without listing everything. */
  CompletableFuture<Void> glance();

  /** One sequence of lists and watches. */
  interface Session {
    /** Whether a watch is open. */
    boolean watching();

    /** Up to where all was heard; null before the first list. */
    @Nullable String resourceVersion();

    /** Ends it. Calls that are under way may still come. */
    void close();
  }

  /**
   * What a session tells, one call at a time, in order.
   */
  interface Listener<T> {
    /** From here to {@link #listed} come the differences that a list found. */
    void listing();

    /** The list is complete: what was not told to be different is as it was. */
    void listed(String resourceVersion);

    /** There is a new object, or another state of one. */
    void put(VersionedObject<T> now);

    /** There is no such object any more. */
    void removed(VersionedObject<T> last);

    /** A list or a watch failed; it is tried again. May come at any time. */
    void failed(Throwable failure);

    /** It cannot go on. Nothing comes after this. */
    void ended(@Nullable Throwable failure);
  }
}
