package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.parse;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.Json;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ColumnPathTest {
  private static final String OBJECT = "{'spec':{'size':3,'on':true,'list':['a','b'],'map':{'k':'v'},"
      + "'nothing':null},'metadata':{'labels':{'a.b/c':'dotted'}},'status':{'conditions':[{'type':"
      + "'Ready','status':'True'},{'type':'Other','status':'False'}]}}";

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {".spec.size|3", "spec.size|3",
      ".spec.on|true", ".spec.list[1]|b", ".spec.list[*]|a b", ".spec.list[7]|``",
      ".spec.map|{\"k\":\"v\"}", ".spec.nothing|``", ".spec.absent.more|``",
      ".metadata.labels.a\\.b/c|dotted", ".metadata.labels['a.b/c']|dotted",
      ".status.conditions[?(@.type==\"Ready\")].status|True",
      ".status.conditions[?(@.type=='Other')].status|False",
      ".status.conditions[?( @.type == 'None' )].status|``",
      ".status.conditions[*].type|Ready Other",
      ".spec.size{|``", ".spec..size|``", "..|``", "``|``"})
  void findsWhatAPathNames(String path, String expected) {
    assertThat(ColumnPath.parse(path).textIn(parse(OBJECT))).isEqualTo(expected);
  }

  @Test
  void readsLongNames() {
    String name = "n".repeat(20_000);
    var object = Json.object().put(name, "there");

    assertThat(ColumnPath.parse("." + name).textIn(object)).isEqualTo("there");
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"PT-1S, 0s", "PT5S, 5s", "PT119S, 119s", "PT2M, 2m", "PT9M59S, 9m59s", "PT10M5S, 10m",
      "PT179M, 179m", "PT3H, 3h", "PT7H5M, 7h5m", "PT8H5M, 8h", "PT47H, 47h", "P2D, 2d",
      "P7DT3H, 7d3h",
      "P8DT3H, 8d", "P729D, 729d", "P730D, 2y", "P731D, 2y1d"})
  void saysAgesInTwoUnitsAtMost(Duration age, String expected) {
    assertThat(TableColumn.age(age)).isEqualTo(expected);
  }
}
