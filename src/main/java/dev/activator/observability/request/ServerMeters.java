package dev.activator.observability.request;

import dev.activator.observability.meter.Series;
import dev.activator.observability.meter.Sums;
import dev.activator.observability.meter.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What is counted of a revision's requests on one loop as their callers see them. Callers choose
 * hosts and methods: past a number of either, what comes is counted together.
 *
 * <p>
 * <b>Threads.</b> One records; any reads.
 */
public final class ServerMeters {
  /** The tag that OpenTelemetry's SDKs give the series of all that have none of their own. */
  public static final String OVERFLOW = "otel.metric.overflow";
  public static final int MOST_HOSTS = 32;
  public static final int MOST_SERIES = 512;

  private final Tags asked;
  private final Map<String, Series<ServerSeries>> hosts = new ConcurrentHashMap<>(2);
  private volatile @Nullable ServerSeries rest;
  private int count;
  private String lastHost = "";
  private @Nullable Series<ServerSeries> last;

  /** @param asked who is: a revision's tags, or none */
  ServerMeters(Tags asked) {
    this.asked = asked;
  }

  void record(RequestRecord request) {
    var series = host(request.host()).find(HttpTraits.key(request, request.status()));
    (series == null ? rest() : series).record(request);
  }

  private ServerSeries rest() {
    var all = rest;
    if (all == null) {
      all = new ServerSeries(asked.and(OVERFLOW, "true"));
      rest = all;
    }
    return all;
  }

  private Series<ServerSeries> host(String text) {
    var same = last;
    if (same != null && lastHost.equals(text)) {
      return same;
    }
    var found = hosts.get(text);
    if (found == null) {
      // A host is what its caller likes: none is kept beyond what a revision should need.
      boolean known = hosts.size() < MOST_HOSTS;
      found = hosts.computeIfAbsent(known ? text : HttpTraits.OTHER, this::series);
    }
    last = found;
    lastHost = text;
    return found;
  }

  private Series<ServerSeries> series(String host) {
    var named = host.equals(HttpTraits.OTHER)
        ? asked.and("server.address", HttpTraits.OTHER)
        : HostPort.parse(host).addTo(asked);
    return new Series<>(key -> make(named, key));
  }

  private @Nullable ServerSeries make(Tags named, int key) {
    return count++ < MOST_SERIES ? new ServerSeries(HttpTraits.tags(named, key)) : null;
  }

  void addTo(Sums sums) {
    hosts.values().forEach(host -> host.all().forEach(each -> each.addTo(sums)));
    var all = rest;
    if (all != null) {
      all.addTo(sums);
    }
  }
}
