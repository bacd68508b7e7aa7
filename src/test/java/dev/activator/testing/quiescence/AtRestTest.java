package dev.activator.testing.quiescence;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import io.netty.buffer.ByteBuf;
import java.util.Collection;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

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
