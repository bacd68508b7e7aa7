package dev.activator.ext.lending.link;

import dev.activator.ext.lending.PeerMessage;
import dev.activator.ext.lending.PeerMessage.Beat;
import dev.activator.ext.lending.PeerMessage.Bound;
import dev.activator.ext.lending.PeerMessage.Grant;
import dev.activator.ext.lending.PeerMessage.Issued;
import dev.activator.ext.lending.PeerMessage.Reach;
import dev.activator.ext.lending.PeerMessage.Recall;
import dev.activator.ext.lending.PeerMessage.Return;
import dev.activator.ext.lending.PeerMessage.View;
import dev.activator.ext.lending.PeerMessage.Want;
import dev.activator.ext.lending.PeerMessage.Yield;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.wire.PeerFrame;
import dev.activator.wire.PeerFrame.Loan;
import dev.activator.wire.PeerFrame.Permits;
import dev.activator.wire.PeerFrame.Revision;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Encodes messages as frames, and decodes them. */
final class PeerCodec {
  private PeerCodec() {}

  static PeerFrame.Builder encode(PeerMessage message) {
    var frame = PeerFrame.newBuilder();
    return switch (message) {
      case View(var id, var epoch, var view) -> frame.setView(
          PeerFrame.View.newBuilder().setRevision(revision(id)).setEpoch(epoch).setView(view));
      case Yield(var id, var epoch, var account, var inUse) -> {
        var yielded = PeerFrame.Yield.newBuilder().setRevision(revision(id)).setEpoch(epoch)
            .setAccount(account);
        inUse.forEach((pod, count) -> yielded.addHeld(permits(pod, count)));
        yield frame.setYield(yielded);
      }
      case Want(var id, var account, var queued, var oldest, var seen, var bound) -> {
        var want = PeerFrame.Want.newBuilder().setRevision(revision(id)).setAccount(account)
            .setQueued(queued).setOldestNanos(oldest.toNanos()).setSeen(seen);
        bound.forEach((pod, waiting) -> want.addBound(PeerFrame.Bound.newBuilder()
            .setHost(pod.host()).setPort(pod.port()).setQueued(waiting.queued())
            .setGranted(waiting.granted())));
        yield frame.setWant(want);
      }
      case Grant(var id, var account, var pod, var total) ->
        frame.setGrant(loan(id, account, pod, total));
      case Return(var id, var account, var pod, var total) ->
        frame.setReturn(loan(id, account, pod, total));
      case Recall(var id, var account, var pod, var total) ->
        frame.setRecall(loan(id, account, pod, total));
      case Reach(var id, var account, var pods) -> {
        var reached = PeerFrame.Reach.newBuilder().setRevision(revision(id)).setAccount(account);
        pods.forEach(pod -> reached
            .addPods(PeerFrame.Pod.newBuilder().setHost(pod.host()).setPort(pod.port())));
        yield frame.setReach(reached);
      }
      case Issued(var notice) -> frame.setIssued(PeerFrame.Issued.newBuilder()
          .setRevision(revision(notice.revision())).setHigh(notice.high()).setLow(notice.low())
          .setPod(PeerFrame.Pod.newBuilder().setHost(notice.pod().host())
              .setPort(notice.pod().port())));
      case Beat(var number, var answered) ->
        frame.setBeat(PeerFrame.Beat.newBuilder().setNumber(number).setAnswered(answered));
    };
  }

  private static Revision revision(RevisionId id) {
    return Revision.newBuilder().setNamespace(id.namespace()).setName(id.name()).build();
  }

  private static Permits permits(Destination pod, long count) {
    return Permits.newBuilder().setHost(pod.host()).setPort(pod.port()).setCount(count).build();
  }

  private static Loan.Builder loan(RevisionId id, long account, Destination pod, long total) {
    return Loan.newBuilder().setRevision(revision(id)).setAccount(account)
        .setTotal(permits(pod, total));
  }

  /**
   * Decodes a message about permits; null for other frames, and for messages of a newer version.
   *
   * @throws IllegalArgumentException if a field has a value that it cannot have
   */
  static @Nullable PeerMessage decode(PeerFrame frame) {
    return switch (frame.getContentCase()) {
      case HELLO, PING, PONG, BYE, LOAD_REQUEST, LOAD, CONTENT_NOT_SET -> null;
      case VIEW -> {
        var view = frame.getView();
        yield new View(id(view.getRevision()), view.getEpoch(), view.getView());
      }
      case YIELD -> yielded(frame.getYield());
      case WANT -> {
        var want = frame.getWant();
        yield new Want(id(want.getRevision()), want.getAccount(), number(want.getQueued()),
            Duration.ofNanos(count(want.getOldestNanos())), count(want.getSeen()), bound(want));
      }
      case GRANT -> {
        var loan = frame.getGrant();
        yield new Grant(id(loan.getRevision()), loan.getAccount(), pod(loan.getTotal()),
            count(loan.getTotal().getCount()));
      }
      case RETURN -> {
        var loan = frame.getReturn();
        yield new Return(id(loan.getRevision()), loan.getAccount(), pod(loan.getTotal()),
            count(loan.getTotal().getCount()));
      }
      case RECALL -> {
        var loan = frame.getRecall();
        yield new Recall(id(loan.getRevision()), loan.getAccount(), pod(loan.getTotal()),
            count(loan.getTotal().getCount()));
      }
      case REACH -> {
        var reach = frame.getReach();
        yield new Reach(id(reach.getRevision()), reach.getAccount(), reach.getPodsList().stream()
            .map(pod -> new Destination(pod.getHost(), pod.getPort())).collect(Collectors.toSet()));
      }
      case ISSUED -> {
        var issued = frame.getIssued();
        yield new Issued(new KeyNotices.Notice(id(issued.getRevision()), issued.getHigh(),
            issued.getLow(),
            new Destination(issued.getPod().getHost(), issued.getPod().getPort())));
      }
      case BEAT -> new Beat(count(frame.getBeat().getNumber()),
          count(frame.getBeat().getAnswered()));
    };
  }

  private static Map<Destination, Bound> bound(PeerFrame.Want want) {
    var all = new HashMap<Destination, Bound>();
    for (var one : want.getBoundList()) {
      all.put(new Destination(one.getHost(), one.getPort()),
          new Bound(number(one.getQueued()), count(one.getGranted())));
    }
    return all;
  }

  private static Yield yielded(PeerFrame.Yield yielded) {
    var inUse = new HashMap<Destination, Integer>();
    for (var permits : yielded.getHeldList()) {
      int number = number(permits.getCount());
      if (number == 0 || inUse.put(pod(permits), number) != null) {
        throw new IllegalArgumentException("a pod without permits, or twice");
      }
    }
    return new Yield(id(yielded.getRevision()), yielded.getEpoch(), yielded.getAccount(), inUse);
  }

  private static RevisionId id(Revision revision) {
    return new RevisionId(revision.getNamespace(), revision.getName());
  }

  private static Destination pod(Permits permits) {
    return new Destination(permits.getHost(), permits.getPort());
  }

  static PeerFrame.Builder encode(PeerSnapshot.Load load) {
    return PeerFrame.newBuilder().setLoad(
        PeerFrame.Load.newBuilder().setInFlight(load.inFlight()).setQueued(load.queued()));
  }

  /** @throws IllegalArgumentException if a field has a value that it cannot have */
  static PeerSnapshot.Load decode(PeerFrame.Load load) {
    return new PeerSnapshot.Load(number(load.getInFlight()), number(load.getQueued()));
  }

  private static long count(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("a negative count");
    }
    return value;
  }

  private static int number(long value) {
    if (value > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("not a number of requests: " + value);
    }
    return (int) count(value);
  }
}
