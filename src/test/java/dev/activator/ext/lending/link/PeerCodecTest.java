package dev.activator.ext.lending.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

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
import dev.activator.wire.PeerFrame;
import dev.activator.wire.PeerFrame.Loan;
import dev.activator.wire.PeerFrame.Permits;
import dev.activator.wire.PeerFrame.Revision;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.PeerSnapshot;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PeerCodecTest {
  private static final RevisionId ID = new RevisionId("shop", "cart-00001");
  private static final Destination POD = new Destination("10.1.2.3", 8012);
  private static final Destination IPV6_POD = new Destination("fd00::7", 8013);
  private static final Revision REVISION = Revision.newBuilder().setNamespace("shop")
      .setName("cart-00001").build();

  static Stream<PeerMessage> messages() {
    return Stream.of(new View(ID, -3, Long.MIN_VALUE),
        new Yield(ID, 4, Long.MAX_VALUE, Map.of(POD, 2, IPV6_POD, Integer.MAX_VALUE)),
        new Yield(ID, 4, 5, Map.of()),
        new Want(ID, 7, 10_000, Duration.ofMillis(1_500), 12, Map.of()),
        new Want(ID, 7, 0, Duration.ZERO, 0, Map.of()),
        new Want(ID, 7, 1, Duration.ZERO, 0,
            Map.of(POD, new Bound(2, 1L << 40), IPV6_POD, new Bound(1, 0))),
        new Grant(ID, 9, POD, 1L << 40),
        new Return(ID, 9, IPV6_POD, 0), new Recall(ID, 9, POD, 3), new Beat(1, 0),
        new Reach(ID, 9, Set.of(POD, IPV6_POD)),
        new Issued(new KeyNotices.Notice(ID, -1, Long.MAX_VALUE, IPV6_POD)),
        new Beat(Long.MAX_VALUE, 12));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void readsWhatItWrites(PeerMessage message) throws Exception {
    var bytes = PeerCodec.encode(message).build().toByteArray();

    assertThat(PeerCodec.decode(PeerFrame.parseFrom(bytes))).isEqualTo(message);
  }

  @Test
  void fitsAFrame_whatABorrowerHasOfTwentyThousandPods() {
    var held = IntStream.range(0, 20_000).boxed().collect(Collectors.toMap(
        i -> new Destination("fd00:1234:5678:9abc:def0:1234:5678:" + Integer.toHexString(i), 8012),
        _ -> 1_000));

    assertThat(PeerCodec.encode(new Yield(ID, 1, 2, held)).build().getSerializedSize())
        .isLessThan(PeerTransport.MAX_FRAME_BYTES);
  }

  @Test
  void readsTheLoadThatItWrites() throws Exception {
    var load = new PeerSnapshot.Load(2, 3);

    var bytes = PeerCodec.encode(load).build().toByteArray();
    assertThat(PeerCodec.decode(PeerFrame.parseFrom(bytes).getLoad())).isEqualTo(load);
    assertThatThrownBy(() -> PeerCodec.decode(PeerFrame.Load.newBuilder().setQueued(-1).build()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Frames that the version of commit 75d40090 has written. Two versions run during an upgrade. */
  static Stream<Arguments> recorded() {
    return Stream.of(
        arguments(new View(ID, 3, 5),
            "2a260a120a0473686f70120a636172742d3030303031110300000000000000190500000000000000"),
        arguments(new Yield(ID, 4, 6, Map.of(POD, 2)),
            "32370a120a0473686f70120a636172742d3030303031110400000000000000190600000000000000"
                + "220f0a0831302e312e322e3310cc3e1802"),
        arguments(new Want(ID, 7, 10_000, Duration.ofMillis(1_500), 12, Map.of()),
            "3a280a120a0473686f70120a636172742d303030303111070000000000000018904e2080dea0cb05280c"),
        arguments(new Grant(ID, 9, POD, 1),
            "422e0a120a0473686f70120a636172742d30303030311109000000000000001a0f0a0831302e312e322e"
                + "3310cc3e1801"),
        arguments(new Return(ID, 9, POD, 2),
            "4a2e0a120a0473686f70120a636172742d30303030311109000000000000001a0f0a0831302e312e322e"
                + "3310cc3e1802"),
        arguments(new Recall(ID, 9, POD, 3),
            "522e0a120a0473686f70120a636172742d30303030311109000000000000001a0f0a0831302e312e322e"
                + "3310cc3e1803"),
        arguments(new Reach(ID, 9, Set.of(POD)),
            "622c0a120a0473686f70120a636172742d30303030311109000000000000001a0d0a0831302e312e322e"
                + "3310cc3e"),
        arguments(new Beat(7, 6), "5a0408071006"));
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void understandsAnEarlierVersion_andIsUnderstoodByIt(PeerMessage message, String bytes)
      throws Exception {
    var recorded = HexFormat.of().parseHex(bytes);

    assertThat(PeerCodec.decode(PeerFrame.parseFrom(recorded))).isEqualTo(message);
    assertThat(PeerCodec.encode(message).build().toByteArray()).isEqualTo(recorded);
  }

  @Test
  void readsTheRequestsInTheLoadOfAnEarlierVersion() throws Exception {
    var recorded = HexFormat.of().parseHex("72560a05302e312e3010d20919000000000000e03f2002280130802"
        + "039000000000000d03f41000000000000f83f4802500358a01f620508f70310076a180a120a0473686f70120a"
        + "636172742d3030303031180130017001");

    assertThat(PeerCodec.decode(PeerFrame.parseFrom(recorded).getLoad()))
        .isEqualTo(new PeerSnapshot.Load(2, 3));
  }

  static Stream<PeerFrame.Builder> malformed() {
    var frame = PeerFrame.newBuilder();
    return Stream.of(frame.clone().setView(PeerFrame.View.getDefaultInstance()),
        frame.clone().setGrant(loan("10.1.2.3", 0, 1)),
        frame.clone().setGrant(loan("10.1.2.3", 65_536, 1)),
        frame.clone().setReturn(loan("", 8012, 1)),
        frame.clone().setRecall(loan("10.1.2.3", 8012, -1)),
        frame.clone().setWant(PeerFrame.Want.newBuilder().setRevision(REVISION).setQueued(-1)),
        frame.clone().setWant(PeerFrame.Want.newBuilder().setRevision(REVISION)
            .setQueued(1L << 31)),
        frame.clone().setWant(PeerFrame.Want.newBuilder().setRevision(REVISION)
            .setOldestNanos(-1)),
        frame.clone().setYield(PeerFrame.Yield.newBuilder().setRevision(REVISION)
            .addHeld(permits("10.1.2.3", 8012, 0))),
        frame.clone().setYield(PeerFrame.Yield.newBuilder().setRevision(REVISION)
            .addHeld(permits("10.1.2.3", 8012, 1)).addHeld(permits("10.1.2.3", 8012, 1))),
        frame.clone().setBeat(PeerFrame.Beat.newBuilder().setNumber(-1)));
  }

  private static Permits permits(String host, int port, long count) {
    return Permits.newBuilder().setHost(host).setPort(port).setCount(count).build();
  }

  private static Loan loan(String host, int port, long count) {
    return Loan.newBuilder().setRevision(REVISION).setTotal(permits(host, port, count)).build();
  }

  @ParameterizedTest
  @MethodSource("malformed")
  void refusesValuesThatAFieldCannotHave(PeerFrame.Builder frame) {
    var built = frame.build();

    assertThatThrownBy(() -> PeerCodec.decode(built)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void leavesTheLinksOwnFramesToTheLink() {
    assertThat(PeerCodec.decode(
        PeerFrame.newBuilder().setPing(PeerFrame.Ping.getDefaultInstance()).build())).isNull();
  }
}
