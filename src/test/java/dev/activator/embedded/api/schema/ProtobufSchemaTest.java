package dev.activator.embedded.api.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.CodedOutputStream;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.StatusException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProtobufSchemaTest {
  private static final Set<String> FORMS_OF_THEIR_OWN = Set.of("any", "bool", "bytes", "int32",
      "int64", "string", "intstr.IntOrString", "resource.Quantity", "meta.v1.FieldsV1",
      "meta.v1.MicroTime", "meta.v1.Time");

  @Test
  void hasEveryTypeThatItsFieldsHave() {
    var left = new ArrayList<>(List.of("serving.v1.Service", "apps.v1.Deployment", "core.v1.Pod",
        "core.v1.Event", "discovery.v1.EndpointSlice"));
    for (int i = 0; i < left.size(); i++) {
      var message = ProtobufSchema.message(left.get(i)).orElseThrow();
      message.byName().values().stream().map(ProtobufSchema.Field::type)
          .filter(type -> !FORMS_OF_THEIR_OWN.contains(type) && !left.contains(type))
          .forEach(type -> {
            assertThat(ProtobufSchema.message(type)).as(type).isPresent();
            left.add(type);
          });
    }
    assertThat(left).hasSizeGreaterThan(100);
  }

  @Test
  void hasTheKindsWithPrograms() {
    SupportedFields.rows().keySet()
        .forEach(kind -> assertThat(ProtobufSchema.of(kind)).isPresent());
    assertThat(ProtobufSchema.of(BuiltInKinds.POD_AUTOSCALER)).isEmpty();
  }

  @Test
  void readsWhatKubectlSends() {
    byte[] sent = HexFormat.of().parseHex("6b3873000a0f0a0276311209436f6e6669674d6170121f0a150a0561"
        + "312e333312001a0022002a003200380042001206" + "0a01781201791a002200");

    assertThat(KubernetesProtobufReader.read(sent)).isEqualTo(Objects.parse(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a1.33'},'data':{'x':'y'}}"));
  }

  @ParameterizedTest
  @CsvSource({"0, 2023-11-14T22:13:20.000000Z", "123000000, 2023-11-14T22:13:20.123000Z",
      "123456000, 2023-11-14T22:13:20.123456Z"})
  void writesTimesOfLeasesWithSixDecimals(int nanos, String text) {
    var renewed = message(number(1, 1_700_000_000), number(2, nanos));
    var lease = message(field(1, message(field(1, "l"))),
        field(2, message(field(4, renewed))));

    assertThat(
        KubernetesProtobufReader.read(envelope("coordination.k8s.io/v1", "Lease", lease))
            .at("/spec/renewTime").stringValue())
        .isEqualTo(text);
  }

  @Test
  void keepsZerosThatAreSetAndReadsTypesThatJsonHasInAnotherForm() {
    var probe = message(field(1, message(field(2, message(field(2,
        message(number(1, 1), field(3, "http"))))))), number(2, 0));
    var container = message(field(1, "c"), field(8, message(field(1,
        message(field(1, "cpu"), field(2, message(field(1, "500m"))))))), field(11, probe),
        number(16, 0));
    var pod = message(number(4, 0), field(2, container), number(11, 0),
        field(1, message(field(1, "v"), field(2, message(field(2, message()))))));
    var spec = message(number(1, 0), field(3, message(field(2, pod))));
    var meta = message(field(1, "d"), field(8, message(number(1, 1_700_000_000))), field(2, ""));

    assertThat(KubernetesProtobufReader.read(envelope("apps/v1", "Deployment",
        message(field(1, meta), field(2, spec), field(99, "unknown"))))).isEqualTo(Objects.parse("""
            {'apiVersion':'apps/v1','kind':'Deployment',
             'metadata':{'name':'d','creationTimestamp':'2023-11-14T22:13:20Z'},
             'spec':{'replicas':0,'template':{'spec':{'terminationGracePeriodSeconds':0,
              'volumes':[{'name':'v','emptyDir':{}}],
              'containers':[{'name':'c','resources':{'limits':{'cpu':'500m'}},
               'readinessProbe':{'httpGet':{'port':'http'}}}]}}}}"""));
  }

  static Stream<byte[]> malformed() {
    byte[] deep = {};
    for (int i = 0; i < 200; i++) {
      deep = message(field(1, deep));
    }
    return Stream.of("{}".getBytes(StandardCharsets.UTF_8), new byte[0], new byte[]{'k', '8', 's'},
        new byte[]{'k', '8', 's', 0, 10, 50, 1}, envelope("v1", "ConfigMap", new byte[]{10, 99}),
        envelope("v1", "ConfigMap", message(number(1, 7))),
        envelope("v1", "ConfigMap", new byte[]{10, 3, 10, 1, (byte) 0xff}));
  }

  @ParameterizedTest
  @MethodSource("malformed")
  void refusesWhatIsMalformed(byte[] body) {
    assertThatThrownBy(() -> KubernetesProtobufReader.read(body))
        .isInstanceOf(StatusException.class)
        .hasMessageStartingWith("the body is not Kubernetes' protobuf: ");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void readsOrRefusesAnyBytes(long seed) {
    var random = new SplittableRandom(seed);
    byte[] good = envelope("apps/v1", "Deployment", message(field(1, message(field(1, "d"),
        field(8, message(number(1, 1_700_000_000))))), field(2, message(number(1, 3)))));
    for (int i = 0; i < 2_000; i++) {
      byte[] bad = good.clone();
      for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
        bad[random.nextInt(4, bad.length)] = (byte) random.nextInt();
      }
      try {
        assertThat(Json.bytes(KubernetesProtobufReader.read(bad))).isNotEmpty();
      } catch (StatusException refused) {
        assertThat(refused.code()).isIn(400, 415);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Node", "PodTemplate", ""})
  void refusesKindsWithoutASchema(String kind) {
    assertThatThrownBy(() -> KubernetesProtobufReader.read(envelope("v1", kind, new byte[0])))
        .isInstanceOfSatisfying(StatusException.class, refused -> {
          assertThat(refused.code()).isEqualTo(415);
          assertThat(refused).hasMessageContaining("is not read in protobuf here: send JSON");
        });
  }

  /** Rows of paths are listed; the rest is listed in words. */
  @Test
  void theDocsListTheSameFields() throws IOException {
    var documented = Files.readAllLines(Path.of("docs/embedded-mode.md")).stream()
        .filter(line -> line.matches("\\| `.*\\| (yes|no: ).*")).toList();

    SupportedFields.rows().values().stream().flatMap(List::stream).distinct()
        .filter(row -> row.path().contains(".") || !row.works())
        .forEach(
            row -> assertThat(documented).anyMatch(line -> line.contains("`" + row.path() + "`")
                && (row.works() || line.endsWith("| no: " + row.reason() + " |"))));
    var paths = SupportedFields.rows().values().stream().flatMap(List::stream)
        .map(SupportedFields.Row::path).toList();
    documented.stream().filter(line -> line.startsWith("| `spec."))
        .forEach(line -> assertThat(paths).contains(line.split("`")[1]));
  }

  @Test
  void theDocsListTheSameAnnotations() throws IOException {
    var documented = new TreeSet<String>();
    for (var line : Files.readAllLines(Path.of("docs/configuration.md"))) {
      if (line.startsWith("| `activator.dev/")) {
        documented.add(line.split("`")[1]);
      }
    }
    var scale = Files.readString(Path.of("docs/embedded-mode.md")).split("\n## Scale\n")[1]
        .split("\n## ")[0];
    scale.lines().filter(line -> line.startsWith("| `"))
        .flatMap(line -> Pattern.compile("`([a-z./-]+)`").matcher(line.split("\\|")[1]).results())
        .forEach(name -> documented.add(
            name.group(1).contains("/")
                ? name.group(1)
                : "autoscaling.knative.dev/" + name.group(1)));

    assertThat(SupportedAnnotations.names()).isEqualTo(documented);
  }

  private static byte[] envelope(String apiVersion, String kind, byte[] raw) {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes(new byte[]{'k', '8', 's', 0});
    bytes.writeBytes(message(field(1, message(field(1, apiVersion), field(2, kind))),
        field(2, raw), field(3, ""), field(4, "")));
    return bytes.toByteArray();
  }

  private interface Part {
    void write(CodedOutputStream out) throws IOException;
  }

  private static byte[] message(Part... parts) {
    var bytes = new ByteArrayOutputStream();
    try {
      var out = CodedOutputStream.newInstance(bytes);
      for (var part : parts) {
        part.write(out);
      }
      out.flush();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return bytes.toByteArray();
  }

  private static Part field(int number, byte[] message) {
    return out -> out.writeByteArray(number, message);
  }

  private static Part field(int number, String text) {
    return out -> out.writeString(number, text);
  }

  private static Part number(int number, long value) {
    return out -> out.writeInt64(number, value);
  }
}
