package dev.activator.backend;

import static dev.activator.backend.Fixtures.CLUSTER_IP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.ProbePolicy;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PodsByReadiness.Identity;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What Knative's own watcher tests say, and the table of its decisions, a row each: pods are letters,
 * {@code ~} marks a pod that is listed but not ready, and {@code ;} separates what a pod answers from
 * one step to the next. A step takes five seconds: a listing, {@code !A} for a request that could not be
 * delivered to A, {@code lost} and {@code back} for the watch of Endpoints, {@code .} for nothing. Published is {@code -} for no pod, and {@code gone} where no
 * request should wait for one. Where we publish more or less than the reference, the row says so.
 */
class WatcherRowsTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakePods fake = new FakePods(loop);
  private final List<String> updates = new ArrayList<>();

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', nullValues = "never", emptyValue = "", textBlock = """
      # row                                          | set-up        | answers            | listings | published    | asked
      RW-01 MG-11 row 3 a ready pod                  | auto          | A=ok cip=ok        | A        | A            | A
      RW-02 MG-07 MG-10 row 5 before it is ready     | auto          | A=ok cip=ok        | ~A       | A            | A
      RW-04 row 9 ready pods only count              | auto          | A=503 B=503 cip=ok | A~B      | cip:A        | ABcip
      RW-05 no pods                                  | auto          | cip=ok             | -        | never        | never
      RW-06 scaled to zero behind the ClusterIP      | auto          | A=503 cip=ok       | A -      | cip:A -      | Acip
      RW-07 nothing answers                          | auto          | A=503 cip=503      | A        | never        | Acip
      RW-08 an error is like a mesh                  | auto          | A=err cip=503      | A        | never        | Acip
      RW-09 later                                    | auto          | A=err,ok cip=err   | A        | A            | Acip
      RW-10 each at once (theirs: one)               | auto          | A=ok               | AB~C     | A ABC        | ABC
      RW-11 one of two                               | auto          | A=err B=ok         | AB       | B            | AB
      RW-12 row 14 one, then the other               | auto          | A=err,ok B=ok      | AB       | B AB         | AB
      RW-13 ClusterIP on second try                  | auto          | A=503 cip=err,ok   | A        | cip:A        | Acip
      RW-15 500 is no mesh                           | auto          | A=500,ok cip=ok    | A        | A            | A
      RW-16 row 11 passthrough, no fallback          | passthrough   | A=503 cip=ok       | A        | never        | A
      RW-17 row 20 mesh, pods not asked              | enabled       | A=ok cip=ok        | A        | cip:A        | cip
      RW-18 row 4 no mesh, ready is trusted          | disabled      | A=503,ok cip=ok    | A        | A            | never
      RW-19 no mesh, whatever it says                | disabled      | A=503              | A        | A            | never
      RW-21 direct again (theirs: cip)               | auto          | A=503 B=ok cip=ok  | A - B    | cip:A - B    | ABcip
      RW-23 MG-08 MG-18 row 7 not before it is ready | exec          | A=ok cip=ok        | ~A       | never        | A
      RW-24 row 17 said once (theirs: for ever)      | auto          | C=err              | AB B~AC  | A AB         | ABC
      RW-26 another body                             | auto          | A=activator cip=ok | A        | never        | A
      MG-04 404 is no mesh                           | auto          | A=404 cip=ok       | A        | never        | A
      MG-05 fallback                                 | auto          | A=503 cip=ok       | A        | cip:A        | Acip
      MG-06 row 10 fallback fails                    | auto          | A=503 cip=err      | A        | never        | Acip
      MG-09 exec probe, ready                        | exec          | A=ok               | A        | A            | A
      MG-14 MG-15 row 25 no Service                  | nocip         | A=err              | A        | never        | A
      PP-01 all answer already                       | auto          | A=ok               | A~B A~B  | A AB         | AB
      PP-02 two of three                             | auto          | A=err              | ~ABC     | B BC         | ABC
      PP-03 no mesh, not ready is asked              | disabled      | B=ok               | A~B      | A AB         | B
      PP-04 mesh or not, both are asked              | auto          | A=ok               | A~B      | A AB         | AB
      PP-05 exec, only ready serves                  | exec          | A=ok               | A~B      | A            | AB
      PP-06 no mesh, one leaves                      | disabled      | A=ok               | AC~B A~B | AC ABC AB    | B
      PP-07 no mesh, exec, one more is ready         | disabled-exec | A=ok               | A AB~C   | A AB         | C
      PP-08 no mesh, exec, another pod               | disabled-exec | A=ok               | AB A~C   | AB A         | C
      PP-09 no mesh, exec, one more                  | disabled-exec | A=ok               | A A~C    | A            | C
      PP-10 no mesh, exec, nothing new               | disabled-exec | A=ok               | AC AC    | AC           | never
      PP-11 one ready, one like a mesh               | auto          | C=503 cip=ok       | A~C      | A            | AC
      CD-06 behind the ClusterIP nobody is asked     | auto          | A=503 B=503 cip=ok | A A~B    | cip:A        | ABcip
      row 1 scaled to zero                           | auto          | A=ok               | A -      | A -          | A
      row 2 nothing new                              | auto          | A=ok               | A A      | A            | A
      row 6 no mesh, no fallback                     | disabled      | B=err cip=ok       | ~B       | never        | B
      row 8 other status, no fallback                | auto          | A=418 cip=ok       | A        | never        | A
      row 12 one answers, no fallback                | auto          | A=503 B=ok cip=ok  | AB       | B            | AB
      row 13 one still fails                         | auto          | A=503 B=ok cip=ok  | B AB AB  | B            | AB
      row 15 fell from ready and fails               | auto          | A=ok,err           | AB B~A   | A AB B       | AB
      row 16 fell from ready (theirs: twice)         | auto          | A=ok               | AB B~A   | A AB         | AB
      row 18 another pod, in a mesh                  | auto          | C=503 cip=ok       | A C      | A - cip:C    | ACcip
      row 19 one leaves                              | auto          | A=ok               | AX A     | A AX A       | AX
      row 21 mesh, ClusterIP fails                   | enabled       | cip=err            | A        | never        | cip
      row 22 mesh and passthrough                    | both          | cip=ok             | A        | never        | never
      row 23 more pods behind the ClusterIP          | auto          | A=503 B=503 cip=ok | A AB     | cip:A cip:AB | ABcip
      row 24 none ready behind it                    | auto          | A=503 cip=ok       | A ~A     | cip:A -      | Acip
      like a mesh, then ready (theirs: in rounds)    | auto          | A=503;ok cip=ok    | ~A A     | A            | A
      like a mesh, then ready, in a mesh             | auto          | A=503 cip=ok       | ~A A     | cip:A        | Acip
      another is ready, and answers now              | auto          | A=503 B=503;ok cip=ok | ~AB AB | B           | AB
      fails, falls, and is ready again               | auto          | A=503;503;ok cip=err | A ~A A | A            | Acip
      the ClusterIP is not asked for nothing         | auto          | A=503 cip=ok       | ~A       | never        | A
      ready once it answered                         | exec          | A=ok               | ~A A     | A            | A
      a trusted pod that falls is asked              | disabled      | A=err              | A ~A     | A -          | A
      ready since before                             | auto          | A=ok;err           | A@1 A@1  | A            | A
      fell and is ready again, and fails             | auto          | A=ok;500           | A@1 A@2  | A -          | A
      fell and is ready again, and answers           | auto          | A=ok               | A@1 A@2  | A            | A
      the same where Kubernetes is trusted           | disabled      | A=err              | A@1 A@2  | A -          | A
      was ready in between, and fails                | auto          | A=ok;err           | ~A@1 ~A@2 | A -         | A
      fell and is ready again, one of two            | auto          | B=ok;err           | AB@1 AB@2 | A AB A      | AB
      may be another pod, and answers                | auto          | A=ok               | A?1 A?2  | A - A        | A
      not ready in between, as was listed            | auto          | A=ok;ok;err        | A@1 ~A@2 A@3 | A        | A
      passthrough, pods answer                       | passthrough   | A=ok cip=ok        | AB       | A AB         | AB
      refuses for 20 s (theirs: 502 at once)         | auto          | A=ok;err cip=err   | A !A . . . . | A - gone | Acip
      refuses for less                               | auto          | A=ok;err;err;err;ok cip=err | A !A . . . . | A - A | Acip
      refuses, is given up, answers                  | nocip         | A=ok;err;err;err;err;err;ok | A !A . . . . . | A - gone A | A
      refuses, and was ready only now                | nocip         | A=ok;err           | ~A A !A . . . . | A - gone | A
      refuses, no watch tells what became of it      | nocip         | A=ok;err           | A !A lost . . . . . | A - | A
      refuses, watched for less than 20 s            | nocip         | A=ok;err           | A !A lost . . . . back . . | A - | A
      refuses, watched again for 20 s                | nocip         | A=ok;err           | A !A lost . back . . . . | A - gone | A
      refused while not watched, and is gone         | nocip         | A=ok;err B=ok      | A !A lost . . . . back B | A - B | AB
      given up, then not watched, then again         | nocip         | A=ok;err           | A !A . . . . lost . back . . . . | A - gone - gone | A
      the ClusterIP refuses, and no watch is open    | auto          | A=503 cip=ok;err   | A !cip lost . . . . | cip:A - | Acip
      refuses, no mesh                               | disabled      | A=err              | A !A . . . . | A - gone | A
      refuses, and is not ready yet                  | nocip         | A=ok;err           | ~A !A . . . . . | A - | A
      refuses, and falls from ready                  | nocip         | A=ok;err           | A !A . ~A . . . . | A - | A
      given up, and falls from ready                 | nocip         | A=ok;err           | A !A . . . . ~A . | A - gone - | A
      refuses, and says that it starts               | auto          | A=ok;err;err;503 cip=err | A !A . . . . . | A - | Acip
      refuses, and says what no mesh says            | nocip         | A=ok;err;err;500   | A !A . . . . . | A - | A
      refuses, and says nothing from the beginning   | nocip         | A=err              | A . . . . . .  | never | A
      refuses, and another starts                    | nocip         | A=ok;err B=err     | A !A A~B . . . . | A - | AB
      refuses, another starts, and is gone           | nocip         | A=ok;err B=err     | A !A A~B . . A | A - gone | AB
      refuses, and another is ready and silent       | nocip         | A=ok;err B=err     | AB !A . . . . . | A - | AB
      refuses, and is gone                           | nocip         | A=ok;err           | A !A - . . . . | A - | A
      given up, then scaled to zero                  | nocip         | A=ok;err           | A !A . . . . - | A - gone - | A
      both refuse, one for less                      | nocip         | A=ok;err B=ok;ok;ok;err | AB !A . !B . . . . | A AB B - gone | AB
      one refuses beside one that serves             | nocip         | A=ok;err B=ok      | AB !A . . . . . | A AB B | AB
      refuses, and the ClusterIP answers             | auto          | A=ok;err cip=ok    | A !A . . . . . | A - cip:A | Acip
      the ClusterIP refuses for 20 s                 | auto          | A=503 cip=ok;err   | A !cip . . . . | cip:A - gone | Acip
      the ClusterIP refuses, mesh                    | enabled       | cip=ok;err         | A !cip . . . . | cip:A - gone | cip
      the ClusterIP refuses, pods are not ready      | enabled       | cip=ok;err;err;err;err;err;err;err;ok | A !cip . ~A . . A . . | cip:A - cip:A | cip
      the ClusterIP refuses, a pod answers           | auto          | A=503;ok cip=ok;err | A !cip . . . . | cip:A - A | Acip
      """)
  void row(String name, String setUp, String answers, String listings, String published,
      String asked) {
    // given
    script(answers, 0);
    var watcher = Fixtures.watcher(traits(setUp), loop, fake, this::note);
    if (!setUp.equals("nocip")) {
      watcher.addressed(CLUSTER_IP);
    }

    // when
    int step = 0;
    for (var happens : listings.split(" ")) {
      script(answers, step++);
      if (happens.startsWith("!")) {
        watcher.onUnreachable(named(happens.substring(1)));
      } else if (happens.equals("lost") || happens.equals("back")) {
        watcher.watchChanged(happens.equals("back"));
      } else if (!happens.equals(".")) {
        watcher.listed(listing(happens));
      }
      loop.advance(Duration.ofSeconds(5));
    }

    // then
    assertThat(String.join(" ", updates)).isEqualTo(published == null ? "" : published);
    assertThat(whoWasAsked()).isEqualTo(asked == null ? "" : asked);
  }

  private void script(String answers, int listing) {
    for (var pod : answers.split(" ")) {
      var parts = pod.split("=");
      var phases = parts[1].split(";");
      if (listing < phases.length) {
        fake.answers(named(parts[0]),
            Stream.of(phases[listing].split(",")).map(WatcherRowsTest::outcome).toList());
      }
    }
  }

  private static ProbeResult outcome(String word) {
    return switch (word) {
      case "ok" -> FakePods.OK;
      case "err" -> FakePods.REFUSED;
      case "activator" -> new ProbeResult.Answered(200, word);
      default -> FakePods.status(Integer.parseInt(word));
    };
  }

  private static ProbePolicy traits(String setUp) {
    return Fixtures.traits(switch (setUp) {
      case "enabled" -> new MeshAddressing(MeshMode.ENABLED, false);
      case "disabled", "disabled-exec" -> new MeshAddressing(MeshMode.DISABLED, false);
      case "passthrough" -> new MeshAddressing(MeshMode.AUTO, true);
      case "both" -> new MeshAddressing(MeshMode.ENABLED, true);
      default -> MeshAddressing.DEFAULT;
    }, !setUp.endsWith("exec"));
  }

  /** Such as {@code AB~C}; {@code A@1} is as it is since version 1, {@code A?1} is without a uid. */
  private static PodsByReadiness listing(String text) {
    var since = text.split("[@?]", 2);
    var parts = since[0].replace("-", "").split("~", 2);
    var listing = new PodsByReadiness(pods(parts[0]), pods(parts.length > 1 ? parts[1] : ""));
    if (since.length == 1) {
      return listing;
    }
    var uid = text.contains("?") ? "" : "u";
    return new PodsByReadiness(listing.ready(), listing.notReady(), listing.ending(),
        listing.all().all().stream().collect(Collectors.toMap(pod -> pod,
            _ -> new Identity(uid, since[1]))));
  }

  private static DestinationSet pods(String letters) {
    return DestinationSet
        .of(letters.chars().mapToObj(letter -> named(Character.toString(letter))).toList());
  }

  private static Destination named(String name) {
    return name.equals("cip")
        ? CLUSTER_IP
        : new Destination("128.0.0." + (name.charAt(0) - 'A' + 1), 1234);
  }

  private void note(HealthyDestinations now) {
    var letters = now.pods().all().stream().map(WatcherRowsTest::letter)
        .collect(Collectors.joining());
    updates.add(now.givenUp()
        ? "gone"
        : (now.clusterIp() == null ? "" : "cip:") + (letters.isEmpty() ? "-" : letters));
  }

  private static String letter(Destination pod) {
    if (pod.equals(CLUSTER_IP)) {
      return "cip";
    }
    int last = Integer.parseInt(pod.host().substring(pod.host().lastIndexOf('.') + 1));
    return Character.toString('A' + last - 1);
  }

  private String whoWasAsked() {
    var names = new TreeSet<String>();
    fake.asked().forEach(one -> names.add(letter(one.pod())));
    return String.join("", names);
  }
}
