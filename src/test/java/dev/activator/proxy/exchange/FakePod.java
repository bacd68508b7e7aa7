package dev.activator.proxy.exchange;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.upstream.UpstreamPool.Dial;
import dev.activator.upstream.PodPools;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPool;
import io.netty.handler.codec.http.HttpObject;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * A pod that does nothing by itself: it accepts a connection when a test says so, and never answers on
 * one.
 */
final class FakePod implements PodPools, UpstreamPool {
  private @Nullable Connection kept;
  private @Nullable UpstreamListener dialling;
  private int dials;
  private int givenUp;

  /** From now on there is a connection that has served a request before. */
  Connection keepsOne() {
    kept = new Connection(true);
    return kept;
  }

  /** The dial that is under way leads to a connection. */
  Connection accepts() {
    var made = new Connection(false);
    var told = dialled();
    made.lentTo = told;
    told.connected(made);
    return made;
  }

  /** The dial that is under way leads to none. */
  void refuses() {
    dialled().failed(UpstreamFailure.REFUSED);
  }

  private UpstreamListener dialled() {
    var told = dialling;
    if (told == null) {
      throw new AssertionError("nobody dials");
    }
    dialling = null;
    return told;
  }

  boolean isDialled() {
    return dialling != null;
  }

  /** How often it was dialled. */
  int dials() {
    return dials;
  }

  /** How many dials were given up. */
  int givenUp() {
    return givenUp;
  }

  @Override
  public UpstreamPool to(Destination pod, RevisionId revision) {
    return this;
  }

  @Override
  public UpstreamPool toHttp2(Destination pod, RevisionId revision) {
    return this;
  }

  @Override
  public Destination address(Destination pod, RevisionId revision) {
    return pod;
  }

  @Override
  public boolean isSecure() {
    return false;
  }

  @Override
  public String authority() {
    return "10.1.1.1:8012";
  }

  @Override
  public @Nullable UpstreamConnection reuse(UpstreamListener listener) {
    var lent = kept;
    kept = null;
    if (lent != null) {
      lent.lentTo = listener;
    }
    return lent;
  }

  @Override
  public @Nullable UpstreamConnection reuseChecked(UpstreamListener listener) {
    return reuse(listener);
  }

  @Override
  public Dial dial(UpstreamListener listener) {
    dials++;
    dialling = listener;
    return () -> {
      givenUp++;
      dialling = null;
    };
  }

  /** Takes whatever is written. */
  static final class Connection implements UpstreamConnection {
    private final boolean reused;
    private @Nullable UpstreamListener lentTo;

    private Connection(boolean reused) {
      this.reused = reused;
    }

    /** It ends before any of the request has left. */
    void ends() {
      if (lentTo == null) {
        throw new AssertionError("nobody uses it");
      }
      lentTo.failed(UpstreamFailure.CLOSED);
    }

    @Override
    public void write(HttpObject part) {
      ReferenceCountUtil.release(part);
    }

    @Override
    public void flush() {}

    @Override
    public boolean isWritable() {
      return true;
    }

    @Override
    public boolean reused() {
      return reused;
    }

    @Override
    public boolean headIsOut() {
      return false;
    }

    @Override
    public void pauseReading() {}

    @Override
    public void resumeReading() {}

    @Override
    public void release() {}

    @Override
    public void close() {}
  }
}
