package dev.activator.embedded.api.store;

import static dev.activator.embedded.api.Objects.parse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.apply.MergePatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

class PatchTest {
  /** RFC 6902 appendix A, and the corners of indices and pointers. */
  @ParameterizedTest(name = "{0} with {1}")
  @CsvSource(delimiter = ';', quoteCharacter = '"', value = {
      "{'a':1};[{'op':'add','path':'/b','value':2}];{'a':1,'b':2}",
      "{'a':[1,3]};[{'op':'add','path':'/a/1','value':2}];{'a':[1,2,3]}",
      "{'a':[1]};[{'op':'add','path':'/a/-','value':2}];{'a':[1,2]}",
      "{'a':[1]};[{'op':'add','path':'/a/1','value':[2]}];{'a':[1,[2]]}",
      "{'a':1,'b':2};[{'op':'remove','path':'/b'}];{'a':1}",
      "{'a':[1,2,3]};[{'op':'remove','path':'/a/1'}];{'a':[1,3]}",
      "{'a':1};[{'op':'replace','path':'/a','value':null}];{'a':null}",
      "{'a':[1,2]};[{'op':'replace','path':'/a/0','value':9}];{'a':[9,2]}",
      "{'a':1};[{'op':'replace','path':'','value':{'b':1}}];{'b':1}",
      "{'a':1};[{'op':'replace','path':'/b','value':2}];{'a':1,'b':2}",
      "{'a':1};[{'op':'copy','from':'/b','path':'/c'}];{'a':1,'c':null}",
      "{'a':{'b':1},'c':{}};[{'op':'move','from':'/a/b','path':'/c/d'}];{'a':{},'c':{'d':1}}",
      "{'a':[1,2,3]};[{'op':'move','from':'/a/0','path':'/a/2'}];{'a':[2,3,1]}",
      "{'a':{'b':1}};[{'op':'copy','from':'/a','path':'/c'}];{'a':{'b':1},'c':{'b':1}}",
      "{'a':'x'};[{'op':'test','path':'/a','value':'x'},{'op':'add','path':'/b','value':1}];"
          + "{'a':'x','b':1}",
      "{'a':1};[{'op':'test','path':'/a','value':1.0}];{'a':1}",
      "{'a':1};[{'op':'test','path':'/b','value':null}];{'a':1}",
      "{'/':9,'~1':10};[{'op':'test','path':'/~01','value':10}];{'/':9,'~1':10}",
      "{'a/b':1};[{'op':'remove','path':'/a~1b'}];{}"})
  void appliesJsonPatches(String target, String patch, String expected) {
    assertThat(JsonPatch.apply(tree(target), tree(patch))).isEqualTo(tree(expected));
  }

  @ParameterizedTest(name = "{0} with {1}")
  @CsvSource(delimiter = ';', quoteCharacter = '"', value = {
      "{'a':1};[{'op':'test','path':'/a','value':2}]",
      "{'a':1};[{'op':'test','path':'/b/c','value':null}]", "{'a':1};[{'op':'remove','path':'/b'}]",
      "{'a':[]};[{'op':'test','path':'/a/0','value':null}]",
      "{'a':[]};[{'op':'replace','path':'/a/0','value':1}]",
      "{'a':1};[{'op':'replace','path':'/b/c','value':1}]",
      "{'a':1};[{'op':'replace','path':'b','value':1}]",
      "{'a':1};[{'op':'move','from':'/b','path':'/c'}]",
      "{'a':1};[{'op':'add','path':'/b/c','value':1}]",
      "{'a':[1]};[{'op':'add','path':'/a/2','value':1}]",
      "{'a':[1]};[{'op':'remove','path':'/a/01'}]", "{'a':[1]};[{'op':'remove','path':'/a/-'}]",
      "{'a':{'b':1}};[{'op':'move','from':'/a','path':'/a/b/c'}]",
      "{'a':1};[{'op':'add','path':'a','value':1}]", "{'a':1};[{'op':'remove','path':''}]"})
  void refusesJsonPatchesThatDoNotFit(String target, String patch) {
    var document = tree(target);

    assertThatThrownBy(() -> JsonPatch.apply(document, tree(patch)))
        .isInstanceOf(JsonPatch.PatchException.class);
    assertThat(document).isEqualTo(tree(target));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = ';', quoteCharacter = '"', value = {"{'op':'add'}",
      "[{'op':'add','path':'/a'}]", "[{'path':'/a','value':1}]", "[{'op':'jump','path':'/a'}]",
      "[{'op':'move','path':'/a'}]", "[1]"})
  void refusesWhatIsNoJsonPatch(String patch) {
    assertThatThrownBy(() -> JsonPatch.apply(tree("{'a':1}"), tree(patch)))
        .isInstanceOfSatisfying(StatusException.class,
            refused -> assertThat(refused.code()).isEqualTo(400));
  }

  /** RFC 7386 appendix A. */
  @ParameterizedTest(name = "{0} with {1}")
  @CsvSource(delimiter = ';', quoteCharacter = '"', value = {"{'a':'b'};{'a':'c'};{'a':'c'}",
      "{'a':'b'};{'b':'c'};{'a':'b','b':'c'}", "{'a':'b'};{'a':null};{}",
      "{'a':'b','b':'c'};{'a':null};{'b':'c'}", "{'a':['b']};{'a':'c'};{'a':'c'}",
      "{'a':'c'};{'a':['b']};{'a':['b']}",
      "{'a':{'b':'c'}};{'a':{'b':'d','c':null}};{'a':{'b':'d'}}",
      "{'a':[{'b':'c'}]};{'a':[1]};{'a':[1]}", "['a','b'];['c','d'];['c','d']",
      "{'a':'b'};['c'];['c']", "{'a':'foo'};null;null", "{'e':null};{'a':1};{'e':null,'a':1}",
      "[1,2];{'a':'b','c':null};{'a':'b'}", "{};{'a':{'bb':{'ccc':null}}};{'a':{'bb':{}}}",
      // not in the RFC, but so does kube-apiserver
      "{'a':[1]};{'a':[null,[{'b':null,'c':1}]]};{'a':[null,[{'c':1}]]}"})
  void appliesMergePatches(String target, String patch, String expected) {
    assertThat(MergePatch.apply(tree(target), tree(patch))).isEqualTo(tree(expected));
  }

  @ParameterizedTest(name = "{0} with {1}")
  @CsvSource(delimiter = ';', quoteCharacter = '"', value = {
      // members of a list with a key merge by it, and those of the patch have its order
      "{'containers':[{'name':'a','image':'1'},{'name':'b'}]};"
          + "{'containers':[{'name':'a','image':'2'},{'name':'c'}]};"
          + "{'containers':[{'name':'a','image':'2'},{'name':'c'},{'name':'b'}]}",
      "{'containers':[{'name':'a'},{'name':'b'},{'name':'c'},{'name':'d'}]};"
          + "{'containers':[{'name':'d'},{'name':'b'},{'name':'e'}]};{'containers':"
          + "[{'name':'a'},{'name':'c'},{'name':'d'},{'name':'b'},{'name':'e'}]}",
      // a directive orders them, also alone
      "{'containers':[{'name':'a'},{'name':'b'}]};{'containers':[{'name':'c'}],"
          + "'$setElementOrder/containers':[{'name':'c'},{'name':'b'},{'name':'a'}]};"
          + "{'containers':[{'name':'c'},{'name':'b'},{'name':'a'}]}",
      "{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]};"
          + "{'$setElementOrder/containers':[{'name':'c'},{'name':'a'}]};"
          + "{'containers':[{'name':'b'},{'name':'c'},{'name':'a'}]}",
      // one that takes the place of a deleted one counts as known, as in Go's slices
      "{'containers':[{'name':'a'},{'name':'b'},{'name':'c'},{'name':'d'}]};{'containers':"
          + "[{'name':'e'},{'name':'f'},{'name':'a','$patch':'delete'}],"
          + "'$setElementOrder/containers':[{'name':'e'},{'name':'b'},{'name':'f'}]};{'containers':"
          + "[{'name':'c'},{'name':'d'},{'name':'e'},{'name':'b'},{'name':'f'}]}",
      // a directive deletes one
      "{'containers':[{'name':'a'},{'name':'b'}]};"
          + "{'containers':[{'name':'a','$patch':'delete'}]};{'containers':[{'name':'b'}]}",
      // or all at once
      "{'containers':[{'name':'a'},{'name':'b'}]};"
          + "{'containers':[{'$patch':'replace'},{'name':'c'}]};{'containers':[{'name':'c'}]}",
      // wherever that directive is in the list
      "{'containers':[{'name':'a'},{'name':'b'}]};"
          + "{'containers':[{'name':'c'},{'name':'d'},{'$patch':'replace'}]};"
          + "{'containers':[{'name':'c'},{'name':'d'}]}",
      // also in a member with a name, which is no member of the new list
      "{'containers':[{'name':'a'},{'name':'b'}]};"
          + "{'containers':[{'name':'c'},{'name':'b','image':'2','$patch':'replace'}]};"
          + "{'containers':[{'name':'c'}]}",
      "{};{'containers':[{'name':'c'},{'name':'b','$patch':'replace'}]};"
          + "{'containers':[{'name':'c'}]}",
      // members are deleted before others are merged
      "{'containers':[{'name':'a','image':'1'},{'name':'b'}]};"
          + "{'containers':[{'name':'a','image':'2'},{'name':'a','$patch':'delete'}]};"
          + "{'containers':[{'name':'a','image':'2'},{'name':'b'}]}",
      // a list that is not there is taken as it is, also if two of its members have one key
      "{'containers':[{'name':'a'}]};{'containers':[{'name':'a','ports':[{'containerPort':53},"
          + "{'containerPort':80},{'containerPort':53,'protocol':'UDP','name':null},"
          + "{'containerPort':1,'$patch':'delete'}]}]};"
          + "{'containers':[{'name':'a','ports':[{'containerPort':53},{'containerPort':80},"
          + "{'containerPort':53,'protocol':'UDP'}]}]}",
      "{'containers':[{'name':'a','ports':[{'containerPort':53},"
          + "{'containerPort':53,'protocol':'UDP'},{'containerPort':80}]}]};"
          + "{'containers':[{'name':'a','ports':[{'containerPort':53,'$patch':'delete'}]}]};"
          + "{'containers':[{'name':'a','ports':[{'containerPort':80}]}]}",
      // ports merge by their numbers
      "{'containers':[{'name':'a','ports':[{'containerPort':1}]}]};"
          + "{'containers':[{'name':'a','ports':[{'containerPort':2}]}]};"
          + "{'containers':[{'name':'a','ports':[{'containerPort':2},{'containerPort':1}]}]}",
      // lists of values are replaced
      "{'containers':[{'name':'a','args':['a']}]};{'containers':[{'name':'a','args':['b']}]};"
          + "{'containers':[{'name':'a','args':['b']}]}",
      // maps merge, null removes, an order of what is not there has no effect
      "{'nodeSelector':{'b':'1','c':'2'}};"
          + "{'nodeSelector':{'b':null,'d':'3'},'$setElementOrder/x':['y']};"
          + "{'nodeSelector':{'c':'2','d':'3'}}",
      "{'nodeSelector':{'b':'1'}};{'nodeSelector':{'$patch':'replace','c':'2'}};"
          + "{'nodeSelector':{'c':'2'}}"})
  void appliesStrategicMergePatches(String target, String patch, String expected) {
    assertThat(MergePatch.strategic(BuiltInKinds.POD, spec(target), spec(patch)))
        .isEqualTo(spec(expected));
  }

  private static ObjectNode spec(String spec) {
    return parse("{'spec':" + spec + "}");
  }

  @ParameterizedTest(name = "{0} with {1}")
  @CsvSource(delimiter = ';', quoteCharacter = '"', value = {
      // ports of a service have a key, those of endpoints have none
      "services;{'spec':{'ports':[{'port':80,'name':'x'}]}};"
          + "{'spec':{'ports':[{'port':80,'name':'y'}]}};"
          + "{'spec':{'ports':[{'port':80,'name':'y'}]}}",
      "endpoints;{'subsets':[{'ports':[{'port':1}]}]};{'subsets':[{'ports':[{'port':2}]}]};"
          + "{'subsets':[{'ports':[{'port':2}]}]}",
      // finalizers are added, and deleted by a directive
      "services;{'metadata':{'finalizers':['a']}};{'metadata':{'finalizers':['b','a']}};"
          + "{'metadata':{'finalizers':['b','a']}}",
      "services;{'metadata':{'finalizers':['a','b']}};"
          + "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}};"
          + "{'metadata':{'finalizers':['b']}}",
      "replicasets;{'status':{'conditions':[{'type':'a','status':'True'},{'type':'b'}]}};"
          + "{'status':{'conditions':[{'type':'a','status':'False'}]}};"
          + "{'status':{'conditions':[{'type':'a','status':'False'},{'type':'b'}]}}"})
  void appliesStrategicMergePatchesAsTheKindDefines(String kind, String target, String patch,
      String expected) {
    var of = new KindRegistry().at(kind.equals("replicasets") ? "apps" : "", "v1", kind)
        .orElseThrow();

    assertThat(MergePatch.strategic(of, parse(target), parse(patch))).isEqualTo(parse(expected));
  }

  private static JsonNode tree(String json) {
    return Json.MAPPER.readTree(json.replace('\'', '"'));
  }

  @Test
  void refusesToNestDeeperAndDeeper() {
    // given a patch that puts all there is into something new, again and again, then copies it
    var patch = Json.MAPPER.createArrayNode();
    for (int i = 0; i < 3_000; i++) {
      patch.add(tree("{'op':'add','path':'/b','value':{}}"));
      patch.add(tree("{'op':'move','from':'/a','path':'/b/a'}"));
      patch.add(tree("{'op':'move','from':'/b','path':'/a'}"));
    }
    patch.add(tree("{'op':'copy','from':'/a','path':'/c'}"));

    assertThatThrownBy(() -> JsonPatch.apply(tree("{'a':{}}"), patch))
        .isInstanceOf(JsonPatch.PatchException.class)
        .hasMessageContaining("deeper than 400 levels");
  }

  @Test
  void movesAsOftenAsItMust_withoutTakingThatForDepth() {
    var patch = Json.MAPPER.createArrayNode();
    for (int i = 0; i < 2_000; i++) {
      patch.add(tree("{'op':'move','from':'/a','path':'/b/c'}"));
      patch.add(tree("{'op':'move','from':'/b/c','path':'/a'}"));
    }

    assertThat(JsonPatch.apply(tree("{'a':{},'b':{}}"), patch)).isEqualTo(tree("{'a':{},'b':{}}"));
  }
}
