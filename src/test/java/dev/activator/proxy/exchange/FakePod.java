package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.upstream.UpstreamPool.Dial;
import dev.activator.testing.StubUpstreamConnection;
import dev.activator.upstream.PodConnectionPools;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPool;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A pod that does nothing by itself: it accepts a connection, and answers, when a test says so. */
public final class FakePod implements PodConnectionPools, UpstreamPool {
  private @Nullable Connection kept;
  private @Nullable UpstreamListener dialling;
  private int dials;
  private int givenUp;
  private boolean broken;
  private Duration grace = Duration.ZERO;

  /** From now on there is a connection that has served a request before. */
  public Connection keepsOne() {
    kept = new Connection(true);
    return kept;
  }

  /** From now on each request that gets a permit meets a bug. */
  public void isBroken() {
    broken = true;
  }

  /** The dial that is under way leads to a connection. */
  public Connection accepts() {
    var made = new Connection(false);
    var received = dialled();
    made.lentTo = received;
    received.connected(made);
    return made;
  }

  /** How much longer a dial wants to wait, when it is asked from now on. */
  public void wantsGrace(Duration more) {
    grace = more;
  }

  /** The dial that is under way leads to none. */
  public void refuses() {
    dialled().failed(UpstreamFailure.REFUSED);
  }

  private UpstreamListener dialled() {
    var received = dialling;
    if (received == null) {
      throw new AssertionError("nobody dials");
    }
    dialling = null;
    return received;
  }

  public boolean isDialled() {
    return dialling != null;
  }

  /** How often it was dialled. */
  public int dials() {
    return dials;
  }

  /** How many dials were given up. */
  public int givenUp() {
    return givenUp;
  }

  @Override
  public Dial open(Destination pod, OpenListener listener) {
    throw new AssertionError("requests open no connections that no pool keeps");
  }

  @Override
  public UpstreamPool to(Destination pod, LiveRevision revision, @Nullable PodIdentity identity,
      PortProtocol protocol) {
    return this;
  }

  @Override
  public Destination address(Destination pod, LiveRevision revision,
      @Nullable PodIdentity identity) {
    if (broken) {
      throw new IllegalStateException("on purpose");
    }
    return pod;
  }

  @Override
  public boolean isSecure(@Nullable PodIdentity identity) {
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
    return new Dial() {
      @Override
      public void cancel() {
        givenUp++;
        dialling = null;
        if (broken) {
          throw new IllegalStateException("on purpose");
        }
      }

      @Override
      public long graceNanos() {
        return grace.toNanos();
      }
    };
  }

  /** Takes whatever is written, and lets it go when it is flushed. */
  public static final class Connection extends StubUpstreamConnection {
    private final boolean reused;
    private @Nullable UpstreamListener lentTo;
    private final List<HttpObject> unflushed = new ArrayList<>();
    private final StringBuilder body = new StringBuilder();
    private boolean headIsOut;
    /** Whether the pod does not read what was written. */
    public boolean isSlow;

    private Connection(boolean reused) {
      this.reused = reused;
    }

    /** It ends before any of the request has left. */
    public void ends() {
      fails(UpstreamFailure.CLOSED);
    }

    public void fails(UpstreamFailure failure) {
      user().failed(failure);
    }

    public void answers(int status) {
      user().head(responseHead(status));
    }

    /** Before its answer. */
    public void answersForNow(int status) {
      user().interim(responseHead(status));
    }

    private static HttpResponse responseHead(int status) {
      return new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status),
          HeaderFieldList.CHECKED);
    }

    /** A part of the response's body, or its end. */
    public void sends(HttpContent part) {
      user().content(part);
    }

    /** To the protocol that the request asked for. */
    public void switches() {
      var head = new DefaultHttpResponse(HttpVersion.HTTP_1_1,
          HttpResponseStatus.SWITCHING_PROTOCOLS, HeaderFieldList.CHECKED);
      head.headers().set("Connection", "upgrade").set("Upgrade", "websocket");
      user().head(head);
    }

    private UpstreamListener user() {
      if (lentTo == null) {
        throw new AssertionError("nobody uses it");
      }
      return lentTo;
    }

    /** From now on all of the request's head has left. */
    public void sendsHead() {
      headIsOut = true;
    }

    /** What was written of the body; after its end a dot, and how many trailers there were. */
    public String body() {
      return body.toString();
    }

    @Override
    public void write(HttpObject part) {
      unflushed.add(part);
      if (part instanceof HttpContent content) {
        body.append(content.content().toString(StandardCharsets.US_ASCII));
      }
      if (part instanceof LastHttpContent last) {
        body.append('.').append(last.trailingHeaders().size());
      }
    }

    @Override
    public void flush() {
      unflushed.forEach(ReferenceCountUtil::release);
      unflushed.clear();
    }

    @Override
    public boolean hasUnsent() {
      return isSlow;
    }

    @Override
    public boolean reused() {
      return reused;
    }

    @Override
    public boolean headIsOut() {
      return headIsOut;
    }
  }
}
