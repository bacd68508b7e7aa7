package dev.activator.testing.quiescence;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ActivatorApplication;
import dev.activator.autoscaler.Autoscaler;
import dev.activator.autoscaler.StatsServer;
import dev.activator.autoscaler.LeaderElection;
import dev.activator.ext.autoscalerfallback.AutoscalerFallback;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.cluster.reflector.SharedInformers;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.observability.ColdStartRecorder;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.exchange.WaitingPages;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.HttpProbeClient;
import dev.activator.upstream.ConnectionPoolsByLoop;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.constant.ClassDesc;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.Extension;

/** The table is complete, and every class that starts something of the product has it checked. */
class AtRestTest {
  private static final List<ClassModel> PRODUCT = classes(ActivatorApplication.class);
  private static final List<ClassModel> TESTS = classes(AtRestTest.class);

  /** All classes of the folder that has this one. */
  private static List<ClassModel> classes(Class<?> of) {
    try {
      var folder = Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (var files = Files.walk(folder)) {
        return files.filter(file -> file.toString().endsWith(".class")).map(AtRestTest::parsed)
            .toList();
      }
    } catch (IOException | URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ClassModel parsed(Path file) {
    try {
      return ClassFile.of().parse(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Class<?> loaded(ClassModel type) {
    try {
      return Class.forName(name(type), false, AtRestTest.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String name(ClassModel type) {
    return type.thisClass().asInternalName().replace('/', '.');
  }

  private static boolean mayHoldSomething(Field field) {
    var type = field.getType();
    return !Modifier.isStatic(field.getModifiers())
        && (type.isArray() || Stream.of(Collection.class, Map.class, ResettableTimer.class,
            Loop.Timer.class, ByteBuf.class).anyMatch(wide -> wide.isAssignableFrom(type))
            || type.getPackageName().equals("java.util.concurrent.atomic"));
  }

  @Test
  void hasARowForEachFieldOfAStageThatMayHoldSomething() {
    var fields = PRODUCT.stream().filter(type -> name(type).startsWith(AtRest.ROOT))
        .map(AtRestTest::loaded).filter(AtRest::isInAStage)
        .filter(type -> !type.isRecord() && !type.isEnum())
        .flatMap(type -> Stream.of(type.getDeclaredFields()))
        .filter(AtRestTest::mayHoldSomething).map(AtRest::name)
        .filter(name -> !name.contains("$SwitchMap"))
        .collect(Collectors.toCollection(TreeSet::new));
    fields.removeAll(AtRest.TABLE.rows.keySet());

    assertThat(fields).as("fields without a row in at-rest.txt: what is left in them?").isEmpty();
  }

  /** What a test may start: the roots from which the rest is reached. */
  private static final Set<Class<?>> STARTED = Set.of(Throttler.class, ProxyServer.class,
      ConnectionPoolsByLoop.class, RevisionBackendsManager.class, HeldRequestBytes.class,
      UnreadResponseBytes.class,
      Autoscaler.class, ConcurrencyReporter.class, ColdStartRecorder.class, HttpProbeClient.class,
      ClusterWatcher.class, SharedInformers.class, AutoscalerLink.class, StatsServer.class,
      LeaderElection.class, AutoscalerFallback.class, WaitingPages.class);

  /** Their callers have what these start; the last is no test. */
  private static final Set<String> OTHERS = Set.of("SimulatedCluster", "SimulatedApi",
      "ScaledServiceReferencesTest", "Training");

  /**
   * A test's fields are looked at without being asked for; what is only in a local variable must be
   * handed over.
   */
  @Test
  void seesWhateverATestStarts() {
    var unseen = new TreeSet<String>();
    int all = 0;
    for (var type : TESTS) {
      var calls = calls(type);
      for (var started : STARTED) {
        if (!isOther(name(type)) && calls.contains(started.getName() + ".<init>")) {
          all++;
          if (!isSeen(type, calls, started)) {
            unseen.add(name(type) + " starts a " + started.getSimpleName());
          }
        }
      }
    }

    assertThat(all).isGreaterThan(60);
    assertThat(unseen).as("neither in a field nor handed to Quiescence.watch").isEmpty();
  }

  private static boolean isOther(String type) {
    return type.contains(".bench.") || OTHERS.contains(type.substring(type.lastIndexOf('.') + 1));
  }

  /** The methods that a class calls or refers to, by class and name. */
  private static Set<String> calls(ClassModel type) {
    var calls = new TreeSet<String>();
    for (var entry : type.constantPool()) {
      if (entry instanceof MethodRefEntry method) {
        calls.add(method.owner().asInternalName().replace('/', '.') + "."
            + method.name().stringValue());
      }
    }
    return calls;
  }

  private static boolean isSeen(ClassModel type, Set<String> calls, Class<?> started) {
    return type.fields().stream().anyMatch(field -> isInstance(field, started))
        || calls.stream().anyMatch(call -> call.startsWith(Quiescence.class.getName() + "."));
  }

  private static boolean isInstance(FieldModel field, Class<?> of) {
    return !field.flags().has(AccessFlag.STATIC)
        && field.fieldTypeSymbol().equals(ClassDesc.of(of.getName()));
  }

  @Test
  void isAppliedToEveryClass() {
    assertThat(ServiceLoader.load(Extension.class)).anyMatch(Quiescence.class::isInstance);
  }

  @Test
  void hasNoRowForWhatIsGone() {
    var unknown = AtRest.TABLE.rows.keySet().stream().filter(row -> !exists(row))
        .collect(Collectors.toCollection(TreeSet::new));

    assertThat(unknown).isEmpty();
  }

  private static boolean exists(String row) {
    var subject = row.replace("timer ", "");
    if (isClass(subject)) {
      return true;
    }
    int dot = subject.lastIndexOf('.');
    try {
      var type = Class.forName(AtRest.ROOT + subject.substring(0, dot), false,
          AtRestTest.class.getClassLoader());
      var member = subject.substring(dot + 1);
      return member.endsWith("()")
          ? Stream.of(type.getDeclaredMethods()).anyMatch(it -> member.equals(it.getName() + "()"))
          : Stream.of(type.getDeclaredFields()).anyMatch(it -> member.equals(it.getName()));
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static boolean isClass(String subject) {
    try {
      Class.forName(AtRest.ROOT + subject, false, AtRestTest.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }
}
