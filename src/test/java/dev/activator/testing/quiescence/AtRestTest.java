package dev.activator.testing.quiescence;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.activator.autoscaler.Autoscaler;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.observability.ColdStarts;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.exchange.HeldBytes;
import dev.activator.proxy.exchange.UnreadBytes;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.HttpProbeClient;
import dev.activator.upstream.Upstreams;
import io.netty.buffer.ByteBuf;
import java.util.Collection;
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
  private static final JavaClasses PRODUCT = new ClassFileImporter()
      .withImportOption(location -> !location.contains("/test-classes/"))
      .importPackages("dev.activator");

  private static boolean mayHoldSomething(JavaField field) {
    var type = field.getRawType();
    return !field.getModifiers().contains(JavaModifier.STATIC)
        && (type.isArray() || Stream.of(Collection.class, Map.class, DeadlineTimer.class,
            Loop.Timer.class, ByteBuf.class).anyMatch(type::isAssignableTo)
            || type.getPackageName().equals("java.util.concurrent.atomic"));
  }

  private static String name(JavaField field) {
    return field.getFullName().replace(AtRest.ROOT, "");
  }

  @Test
  void hasARowForEachFieldOfAStageThatMayHoldSomething() {
    var fields = PRODUCT.stream().filter(type -> AtRest.isInAStage(type.reflect()))
        .filter(type -> !type.isRecord() && !type.isEnum())
        .flatMap(type -> type.getFields().stream()).filter(AtRestTest::mayHoldSomething)
        .map(AtRestTest::name).filter(name -> !name.contains("$SwitchMap"))
        .collect(Collectors.toCollection(TreeSet::new));
    fields.removeAll(AtRest.TABLE.rows.keySet());

    assertThat(fields).as("fields without a row in at-rest.txt: what is left in them?").isEmpty();
  }

  /** What a test may start: the roots from which the rest is reached. */
  private static final Set<Class<?>> STARTED = Set.of(Throttler.class, ProxyServer.class,
      Upstreams.class, RevisionBackendsManager.class, HeldBytes.class, UnreadBytes.class,
      Autoscaler.class, ConcurrencyReporter.class, ColdStarts.class, HttpProbeClient.class);

  /**
   * A test's fields are looked at without being asked for; what is only in a local variable must be
   * handed over.
   */
  @Test
  void seesWhateverATestStarts() {
    var tests = new ClassFileImporter()
        .withImportOption(location -> location.contains("/test-classes/"))
        .importPackages("dev.activator");
    var unseen = new TreeSet<String>();
    int all = 0;
    for (var type : tests) {
      for (var started : STARTED) {
        if (!type.getPackageName().endsWith(".bench") && starts(type, started)) {
          all++;
          if (!isSeen(type, started)) {
            unseen.add(type.getName() + " starts a " + started.getSimpleName());
          }
        }
      }
    }

    assertThat(all).isGreaterThan(60);
    assertThat(unseen).as("neither in a field nor handed to Quiescence.watch").isEmpty();
  }

  private static boolean starts(JavaClass type, Class<?> started) {
    return type.getConstructorCallsFromSelf().stream()
        .anyMatch(call -> call.getTargetOwner().isEquivalentTo(started));
  }

  private static boolean isSeen(JavaClass type, Class<?> started) {
    return type.getFields().stream().filter(field -> !field.getModifiers()
        .contains(JavaModifier.STATIC)).anyMatch(field -> field.getRawType()
            .isEquivalentTo(started))
        || type.getMethodCallsFromSelf().stream()
            .anyMatch(call -> call.getTargetOwner().isEquivalentTo(Quiescence.class));
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
