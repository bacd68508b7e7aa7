package dev.activator;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.RequestOutcome;
import dev.activator.app.Extensions;
import dev.activator.http.KnownHeader;
import dev.activator.http.HeaderFieldList;
import dev.activator.revision.RevisionId;
import dev.activator.testing.TestExtensions;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaParameterizedType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** Which package may use which. Its package-info says what each is for. */
class ArchitectureTest {
  private static final String ROOT = "dev.activator";
  private static final List<String> GROUND = List.of("revision", "config", "loop", "observability",
      "lifecycle", "tls", "http", "upstream");

  /** What extensions may use: no other extension, and no mode. */
  private static final List<String> KERNEL = and(GROUND, "kube", "discovery", "backend", "throttle",
      "stats", "proxy", "platform", "settings", "management", "meters", "wire", "template");

  private static final JavaClasses PRODUCT = new ClassFileImporter()
      .withImportOption(location -> !location.contains("/test-classes/")).importPackages(ROOT);

  /** One row: a package, and what of ours it may use besides itself. */
  record Row(String name, List<String> uses) {
    @Override
    public String toString() {
      return name + " uses " + uses;
    }
  }

  static Stream<Row> table() {
    return Stream.concat(rooms(), Extensions.ALL.stream()
        .map(type -> new Row("ext." + Extensions.name(type), KERNEL)));
  }

  private static Stream<Row> rooms() {
    return Stream.of(new Row("revision", List.of("loop")),
        new Row("config", List.of("revision", "template")),
        new Row("template", List.of()),
        new Row("loop", List.of()),
        new Row("observability", List.of("revision", "config")),
        new Row("lifecycle", List.of()), new Row("tls", List.of("revision", "config", "loop")),
        new Row("http", List.of("loop")),
        new Row("upstream",
            List.of("revision", "config", "loop", "observability", "lifecycle", "tls", "http")),
        new Row("kube", GROUND), new Row("discovery", and(GROUND, "kube")),
        new Row("backend", GROUND),
        new Row("throttle", GROUND),
        new Row("stats", and(GROUND, "wire")), new Row("wire", List.of()),
        new Row("proxy", and(GROUND, "throttle", "stats")),
        new Row("standalone",
            and(GROUND, "kube", "discovery", "stats", "proxy", "platform", "wire")),
        // A cluster in this process without Knative's controllers: stand-alone mode with its own API
        // and runtime.
        new Row("embedded",
            and(GROUND, "throttle", "stats", "kube", "discovery", "standalone", "proxy",
                "management", "platform", "app", "settings")),
        new Row("embedded.api", List.of("revision", "config", "loop")),
        new Row("embedded.runtime",
            List.of("embedded.api", "revision", "config", "loop", "lifecycle", "kube",
                "standalone.autoscaler")),
        new Row("management", and(GROUND, "settings")),
        new Row("meters",
            and(GROUND, "throttle", "stats", "kube", "discovery", "proxy")),
        new Row("settings",
            and(GROUND, "kube", "discovery", "backend", "proxy", "platform")),
        new Row("platform",
            and(GROUND, "kube", "discovery", "stats", "proxy")),
        new Row("app",
            and(GROUND, "kube", "discovery", "backend", "throttle", "stats", "proxy",
                "management", "meters", "ext", "settings", "platform")));
  }

  private static List<String> and(List<String> names, String... more) {
    return Stream.concat(names.stream(), Stream.of(more)).toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("table")
  void usesOnlyWhatItsRowAllows(Row row) {
    var allowed = new ArrayList<String>();
    allowed.add(inside(row.name()));
    row.uses().forEach(name -> allowed.add(inside(name)));

    classes().that().resideInAPackage(inside(row.name())).should()
        .onlyDependOnClassesThat(outsideTheProject().or(in(allowed)))
        .because("stages share words, not references; the root joins them").allowEmptyShould(true)
        .check(PRODUCT);
  }

  /** So that its folders and its lines in {@code Extensions} and {@code TestExtensions} can be deleted. */
  @Test
  void testsOfTheKernelUseNoExtension() {
    var tests = new ClassFileImporter()
        .withImportOption(location -> location.contains("/test-classes/")).importPackages(ROOT);

    noClasses().that().resideInAnyPackage(and(KERNEL, "app", "testing").stream()
        .map(ArchitectureTest::inside).toArray(String[]::new)).and()
        .doNotHaveSimpleName(TestExtensions.class.getSimpleName()).should()
        .dependOnClassesThat().resideInAPackage(inside("ext")).check(tests);
  }

  @Test
  void everyPackageHasARow() {
    var known = new ArrayList<String>();
    known.add(ROOT);
    table().forEach(row -> known.add(inside(row.name())));

    classes().should().resideInAnyPackage(known.toArray(String[]::new))
        .because("a new room needs a line in the table").check(PRODUCT);
  }

  @Test
  void featuresFormNoCycle() {
    slices().matching(ROOT + ".(*)..").should().beFreeOfCycles()
        .because("a feature must be readable without the ones that use it").check(PRODUCT);
  }

  @Test
  void policiesAreFunctionsOfValues() {
    classes().that().resideInAPackage("..policy..").should()
        .onlyDependOnClassesThat(in(List.of("java.lang", "java.lang.runtime", "java.lang.invoke",
            "java.math", "java.util", "java.util.function", "java.util.stream", "java.util.random",
            "java.util.regex", "java.nio.charset", "java.time", "java.time.format",
            "org.jspecify.annotations",
            "..policy..",
            inside("revision"), inside("config"))).or(type(KnownHeader.class))
            .or(type(HeaderFieldList.class)).or(type(RequestOutcome.class))
            .or(type(KnownHeader[].class)))
        .because("a decision is tested without threads, sockets or clocks").allowEmptyShould(true)
        .check(PRODUCT);
  }

  @Test
  void onlyKubeSeesFabric8() {
    onlyIn("io.fabric8..", "Kubernetes objects become our records where they enter", "kube");
  }

  @Test
  void fewKnowTheClientLibrary() {
    noClasses().that().resideInAPackage(inside("kube")).and()
        .haveNameNotMatching(
            ".*[.](KubernetesClientFactory|KubeconfigReader|KubernetesApiClient|LineStream"
                + "|KubernetesHttpClientFactory|ApiCertificates|ExecPlugin|ExecCredentials)([$].*)?")
        .should()
        .dependOnClassesThat().resideInAnyPackage("io.fabric8..", "io.kubernetes..", "okhttp3..")
        .because(
            "two classes make its configuration, four send requests, two are a command for credentials")
        .check(PRODUCT);
  }

  @Test
  void springStaysAtTheEdges() {
    onlyIn("org.springframework..", "a feature is built by hand in its tests", "app",
        "management", "embedded", "tls", "settings", "ext");
    noClasses().that().resideInAPackage(inside("tls")).should()
        .dependOnClassesThat(JavaClass.Predicates.resideInAPackage("org.springframework..")
            .and(JavaClass.Predicates.resideOutsideOfPackage("org.springframework.boot.ssl..")))
        .because("of Spring it needs what reads keys").check(PRODUCT);
  }

  @Test
  void appHasNothingWithoutSpring() {
    classes().that().resideInAPackage(inside("app")).and().areTopLevelClasses().and()
        .doNotHaveSimpleName("package-info").should()
        .dependOnClassesThat(JavaClass.Predicates.resideInAPackage("org.springframework.."))
        .because("what needs no Spring belongs to a room that is tested without Spring")
        .check(PRODUCT);
  }

  @Test
  void nothingUsesMain() {
    noClasses().that().doNotHaveSimpleName("ActivatorApplication").and()
        .doNotHaveSimpleName("JavaVersionCheck").should()
        .dependOnClassesThat().haveSimpleName("ActivatorApplication")
        .because("what the build needs to start a mode is in src/main/build").check(PRODUCT);
  }

  @Test
  void nettyAndReactorStayWhereSocketsAre() {
    String reason = "everything else runs on a Loop, in virtual time when tested";
    onlyIn("io.netty..", reason, "loop", "tls", "http", "upstream", "proxy", "stats", "standalone",
        "management", "embedded", "ext", "platform", "settings", "app");
    onlyIn("reactor..", reason, "loop", "tls", "upstream", "proxy", "stats", "standalone",
        "management", "embedded", "ext", "platform", "app");
  }

  @Test
  void onlyLoopReadsTheClock() {
    noClasses().that().resideOutsideOfPackage(inside("loop")).should()
        .callMethodWhere(target(ownedBy(System.class, "nanoTime|currentTimeMillis"))
            .or(target(ownedBy(Thread.class, "sleep")))
            .or(target(ownedBy(TimeUnit.class, "sleep")))
            .or(target(ownedBy(Instant.class, "now")))
            .or(target(ownedBy(LocalDateTime.class, "now")))
            .or(target(ownedBy(ThreadLocalRandom.class, "current"))))
        .because("tests move time by hand, and a seed must replay").check(PRODUCT);
  }

  /**
   * What is known of a revision ends with it. These maps are an index of all revisions, values that
   * come before their Revision, an order of work, and what other activators get to know.
   */
  @Test
  void whatIsKeptForARevisionIsInASlot() {
    var maps = PRODUCT.stream().filter(type -> !isOfAMode(type))
        .flatMap(type -> type.getFields().stream())
        .filter(field -> field.getRawType().isAssignableTo(Map.class)
            && field.getType() instanceof JavaParameterizedType map
            && map.getActualTypeArguments().getFirst().getName().equals(RevisionId.class.getName()))
        .map(field -> field.getOwner().getSimpleName());

    assertThat(maps).containsExactlyInAnyOrder("LiveRevisions", "RevisionChangePublisher",
        "ProbeQueue", "FairQueue", "PermitLending", "ActivatorAddresses");
  }

  /** Those of a mode know ScaledServices, whose state has no LiveRevision. */
  private static boolean isOfAMode(JavaClass type) {
    return type.getName().matches(
        ".*[.](embedded|autoscaler|standalone)[.].*|.*[.](ScaledService|ActivatorEndpointSlice).*");
  }

  @Test
  void constructorsHaveAtMostSevenParameters() {
    classes().that().areNotRecords().and().areNotEnums().and().areNotAnonymousClasses().and()
        .resideOutsideOfPackage(inside("wire"))
        .should(new ArchCondition<>("have no constructor with more than 7 parameters") {
          @Override
          public void check(JavaClass type, ConditionEvents events) {
            type.getConstructors().stream()
                .filter(one -> one.getParameters().size() > 7)
                .forEach(one -> events
                    .add(SimpleConditionEvent.violated(one, one.getDescription())));
          }
        }).because("a reader cannot tell eight arguments apart").check(PRODUCT);
  }

  @Test
  void classesHaveAtMost25Fields() {
    assertThat(PRODUCT.stream()
        .filter(type -> !type.isEnum() && !type.getPackageName().startsWith(ROOT + ".wire"))
        .filter(type -> type.getFields().stream()
            .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC)).count() > 25)
        .map(JavaClass::getName)).isEmpty();
  }

  /** Nested types are read with the name of the type around them. */
  @Test
  void noTwoTypesHaveTheSameName() {
    var names = new HashMap<String, List<String>>();
    PRODUCT.stream()
        .filter(type -> !type.isNestedClass() && !type.getSimpleName().equals("package-info"))
        .filter(type -> !type.getPackageName().equals(inside("wire").replace("..", "")))
        .forEach(type -> names.computeIfAbsent(type.getSimpleName(), _ -> new ArrayList<>())
            .add(type.getName()));

    assertThat(names.values()).filteredOn(alike -> alike.size() > 1).isEmpty();
  }

  /** Spring Boot keeps the types that one annotation names in a set without an order. */
  @Test
  void eachConfigurationHasOneTypeOfSettingsSoThatTwoBuildsMakeTheSameJar() {
    assertThat(PRODUCT.stream()
        .filter(type -> type.isAnnotatedWith(EnableConfigurationProperties.class))
        .filter(
            type -> type.getAnnotationOfType(EnableConfigurationProperties.class)
                .value().length > 1)
        .map(JavaClass::getName)).isEmpty();
  }

  @Test
  void logLinesNameTheirCaller() {
    classes().should(new ArchCondition<>("call a Logger themselves") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        type.getMethodReferencesFromSelf().stream()
            .filter(reference -> reference.getTargetOwner().isAssignableTo(Logger.class))
            .forEach(reference -> events
                .add(SimpleConditionEvent.violated(reference, reference.getDescription())));
      }
    }).because("of a method reference, the caller in the log is who calls that").check(PRODUCT);
  }

  private static DescribedPredicate<AccessTarget> ownedBy(Class<?> owner, String names) {
    return DescribedPredicate.describe(owner.getSimpleName() + "." + names,
        target -> target.getOwner().isEquivalentTo(owner) && target.getName().matches(names));
  }

  private static void onlyIn(String library, String reason, String... packages) {
    var homes = new ArrayList<String>();
    homes.add(ROOT);
    Stream.of(packages).map(ArchitectureTest::inside).forEach(homes::add);
    noClasses().that().resideOutsideOfPackages(homes.toArray(String[]::new)).should()
        .dependOnClassesThat().resideInAPackage(library).because(reason).check(PRODUCT);
  }

  private static String inside(String name) {
    return ROOT + "." + name + "..";
  }

  private static DescribedPredicate<JavaClass> outsideTheProject() {
    return JavaClass.Predicates.resideOutsideOfPackage(ROOT + "..");
  }

  private static DescribedPredicate<JavaClass> in(List<String> packages) {
    return JavaClass.Predicates.resideInAnyPackage(packages.toArray(String[]::new));
  }
}
