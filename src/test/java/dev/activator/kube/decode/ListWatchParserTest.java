package dev.activator.kube.decode;

import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.Yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.discovery.decode.KnativeKinds;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ListWatchParserTest {
  private static final String OBJECT = "{kind: Endpoints, metadata: {namespace: ns, name: x, uid: u,"
      + " resourceVersion: '7', managedFields: [{a: [1, {b: 2}]}]}, subsets: []}";

  private static WatchEvent<ObjectDecodeResult<RevisionEndpointSlice>> event(String yaml) {
    return ListWatchParser.event(KnativeKinds.ENDPOINTS, () -> Yaml.parser(Yaml.json(yaml)));
  }

  private static Page<ObjectDecodeResult<RevisionEndpointSlice>> page(String yaml) {
    return ListWatchParser.page(KnativeKinds.ENDPOINTS, Yaml.parser(Yaml.json(yaml)));
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"{type: ADDED, object: %s}", "{type: MODIFIED, object: %s}",
      "{object: %s, type: ADDED}", "{other: [{}], object: %s, type: ADDED, more: {}}"})
  void readsAnObjectThatIsThere(String event) {
    assertThat(event(event.formatted(OBJECT))).isEqualTo(
        new WatchEvent.Put<>(Yaml.object(KnativeKinds.ENDPOINTS, OBJECT)));
  }

  @Test
  void readsADeletion() {
    assertThat(event("{type: DELETED, object: " + OBJECT + "}")).isEqualTo(
        new WatchEvent.Removed<>(Yaml.object(KnativeKinds.ENDPOINTS, OBJECT)));
  }

  @Test
  void readsABookmark() {
    assertThat(event("{type: BOOKMARK, object: {kind: Endpoints, metadata: {resourceVersion: '9',"
        + " annotations: {a: b}}}}")).isEqualTo(new WatchEvent.Bookmark<>("9"));
  }

  @Test
  void readsAFailure() {
    assertThat(event("{type: ERROR, object: {kind: Status, code: 429, message: no,"
        + " details: {retryAfterSeconds: 3}}}"))
        .isEqualTo(new WatchEvent.Failed<>(429, Duration.ofSeconds(3)));
    assertThat(event("{type: ERROR, object: {kind: Status, code: 410}}"))
        .isEqualTo(new WatchEvent.Failed<>(410, Duration.ZERO));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "{}                                  | an event came without a type or an object",
      "{type: ADDED}                       | an event came without a type or an object",
      "{object: {}}                        | an event came without a type or an object",
      "{type: ADDED, object: 5}            | a JSON object is missing",
      "[]                                  | a JSON object is missing",
      "{type: X, object: {}}               | an event has the unknown type 'X'",
      "{type: ADDED, object: {metadata: {name: x}}} "
          + "| an object came without a name or a resourceVersion: 'x'",
      "{type: ADDED, object: {metadata: {resourceVersion: '1'}}} "
          + "| an object came without a name or a resourceVersion: ''",
      "{type: BOOKMARK, object: {}}        | a bookmark came without a resourceVersion"})
  void cannotGoOnFromWhatIsNoEvent(String event, String message) {
    assertThatThrownBy(() -> event(event)).isInstanceOf(IllegalStateException.class)
        .hasMessage(message);
  }

  @Test
  void anObjectOfAnotherKindOrWithAFieldOfAnotherTypeIsStillAnObject() {
    var other = (WatchEvent.Put<ObjectDecodeResult<RevisionEndpointSlice>>) event(
        "{type: ADDED, object: {kind: Pod,"
            + " subsets: [5, {ports: 7}], metadata: {labels: 8, resourceVersion: '1', namespace: ns,"
            + " name: x}}}");
    assertThat(other.now().key()).isEqualTo("ns/x");
    assertThat(other.now().resourceVersion()).isEqualTo("1");
    assertThat(other.now().object().value()).isNull();
  }

  @Test
  void readsAPage() {
    var page = page("{kind: List, items: [" + OBJECT + ", {metadata: {resourceVersion: '1'}}],"
        + " metadata: {continue: more, remainingItemCount: 5, resourceVersion: '8'}}");
    assertThat(page.items()).containsExactly(Yaml.object(KnativeKinds.ENDPOINTS, OBJECT));
    assertThat(page.resourceVersion()).isEqualTo("8");
    assertThat(page.next()).isEqualTo("more");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"{items: []}", "{metadata: {resourceVersion: '8'}}"})
  void aListWithoutVersionOrItemsIsNone(String list) {
    assertThatThrownBy(() -> page(list)).isInstanceOf(IllegalStateException.class)
        .hasMessage("a list came without a resourceVersion or items");
  }

  @Test
  void aListWhoseItemsAreNullIsEmpty() {
    assertThat(page("{metadata: {resourceVersion: '8'}, items: null}").items()).isEmpty();
  }

  @Test
  void readsTheVersionOfTheServer() {
    assertThat(
        ListWatchParser.gitVersion(Yaml.parser("{\"major\":\"1\",\"gitVersion\":\"v1.34.1\"}")))
        .isEqualTo("v1.34.1");
    assertThat(ListWatchParser.gitVersion(Yaml.parser("{}"))).isEmpty();
  }
}
