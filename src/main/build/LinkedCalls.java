import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Writes a class with methods in place of calls that each process would link again, as JDK 25's AOT cache does not
 * hold them: {@code switch} over types, and {@code equals} and {@code hashCode} of records. Linking makes classes, and
 * what it makes runs through method handles, slowly until it is compiled.
 */
class LinkedCalls extends ClassVisitor {
  private final List<Runnable> methods = new ArrayList<>();
  private String name = "";
  private boolean isInterface;

  LinkedCalls(ClassVisitor to) {
    super(SpringAsmInfo.ASM_VERSION, to);
  }

  @Override
  public void visit(int version, int access, String name, String generic, String parent, String[] interfaces) {
    super.visit(version, access, name, generic, parent, interfaces);
    this.name = name;
    this.isInterface = (access & Opcodes.ACC_INTERFACE) != 0;
  }

  @Override
  public MethodVisitor visitMethod(int access, String method, String type, String generic, String[] exceptions) {
    return new MethodVisitor(api, super.visitMethod(access, method, type, generic, exceptions)) {
      @Override
      public void visitInvokeDynamicInsn(String call, String descriptor, Handle bootstrap, Object... arguments) {
        Consumer<MethodVisitor> body = switch (bootstrap.getOwner() + " " + call) {
          // Constants other than types are left to the JVM.
          case "java/lang/runtime/SwitchBootstraps typeSwitch" ->
              Stream.of(arguments).allMatch(Type.class::isInstance) ? to -> typeSwitch(to, arguments) : null;
          case "java/lang/runtime/ObjectMethods equals" -> to -> equality(to, fields(arguments));
          case "java/lang/runtime/ObjectMethods hashCode" -> to -> hash(to, fields(arguments));
          default -> null;
        };
        if (body == null) {
          super.visitInvokeDynamicInsn(call, descriptor, bootstrap, arguments);
        } else {
          visitMethodInsn(Opcodes.INVOKESTATIC, name, add(descriptor, body), descriptor, isInterface);
        }
      }
    };
  }

  private String add(String descriptor, Consumer<MethodVisitor> body) {
    var linked = "linked$" + methods.size();
    methods.add(() -> {
      var to = super.visitMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC, linked, descriptor,
          null, null);
      to.visitCode();
      body.accept(to);
      to.visitInsn(Opcodes.IRETURN);
      to.visitMaxs(5, 2);
      to.visitEnd();
    });
    return linked;
  }

  @Override
  public void visitEnd() {
    methods.forEach(Runnable::run);
    super.visitEnd();
  }

  /** Of an object and an index, the first index from that one on whose type the object has; else their number; -1 for null. */
  private static void typeSwitch(MethodVisitor to, Object[] types) {
    to.visitVarInsn(Opcodes.ALOAD, 0);
    returnUnless(to, Opcodes.IFNONNULL, -1);
    for (int i = 0; i < types.length; i++) {
      var next = new Label();
      to.visitVarInsn(Opcodes.ILOAD, 1);
      to.visitIntInsn(Opcodes.SIPUSH, i);
      to.visitJumpInsn(Opcodes.IF_ICMPGT, next);
      to.visitVarInsn(Opcodes.ALOAD, 0);
      to.visitTypeInsn(Opcodes.INSTANCEOF, ((Type) types[i]).getInternalName());
      to.visitJumpInsn(Opcodes.IFEQ, next);
      to.visitIntInsn(Opcodes.SIPUSH, i);
      to.visitInsn(Opcodes.IRETURN);
      place(to, next);
    }
    to.visitIntInsn(Opcodes.SIPUSH, types.length);
  }

  /** The arguments of the bootstrap method are the class, the names of its fields, and what reads each. */
  private static Handle[] fields(Object[] arguments) {
    return Arrays.copyOfRange(arguments, 2, arguments.length, Handle[].class);
  }

  private void equality(MethodVisitor to, Handle[] fields) {
    to.visitVarInsn(Opcodes.ALOAD, 0);
    to.visitVarInsn(Opcodes.ALOAD, 1);
    returnUnless(to, Opcodes.IF_ACMPNE, 1);
    to.visitVarInsn(Opcodes.ALOAD, 1);
    to.visitTypeInsn(Opcodes.INSTANCEOF, name);
    returnUnless(to, Opcodes.IFNE, 0);
    for (var field : fields) {
      to.visitVarInsn(Opcodes.ALOAD, 0);
      read(to, field);
      to.visitVarInsn(Opcodes.ALOAD, 1);
      to.visitTypeInsn(Opcodes.CHECKCAST, name);
      read(to, field);
      var type = Type.getType(field.getDesc());
      switch (type.getSort()) {
        case Type.OBJECT, Type.ARRAY -> {
          call(to, "java/util/Objects", "equals", "(Ljava/lang/Object;Ljava/lang/Object;)Z");
          returnUnless(to, Opcodes.IFNE, 0);
        }
        case Type.LONG, Type.FLOAT, Type.DOUBLE -> {
          call(to, box(type), "compare", "(" + field.getDesc() + field.getDesc() + ")I");
          returnUnless(to, Opcodes.IFEQ, 0);
        }
        default -> returnUnless(to, Opcodes.IF_ICMPEQ, 0);
      }
    }
    to.visitInsn(Opcodes.ICONST_1);
  }

  private static void hash(MethodVisitor to, Handle[] fields) {
    to.visitInsn(Opcodes.ICONST_0);
    for (var field : fields) {
      to.visitIntInsn(Opcodes.BIPUSH, 31);
      to.visitInsn(Opcodes.IMUL);
      to.visitVarInsn(Opcodes.ALOAD, 0);
      read(to, field);
      var type = Type.getType(field.getDesc());
      if (type.getSort() >= Type.ARRAY) {
        call(to, "java/util/Objects", "hashCode", "(Ljava/lang/Object;)I");
      } else {
        call(to, box(type), "hashCode", "(" + field.getDesc() + ")I");
      }
      to.visitInsn(Opcodes.IADD);
    }
  }

  private static String box(Type primitive) {
    return switch (primitive.getSort()) {
      case Type.INT -> "java/lang/Integer";
      case Type.CHAR -> "java/lang/Character";
      default -> {
        var word = primitive.getClassName();
        yield "java/lang/" + Character.toUpperCase(word.charAt(0)) + word.substring(1);
      }
    };
  }

  private static void read(MethodVisitor to, Handle field) {
    to.visitFieldInsn(Opcodes.GETFIELD, field.getOwner(), field.getName(), field.getDesc());
  }

  private static void call(MethodVisitor to, String owner, String method, String descriptor) {
    to.visitMethodInsn(Opcodes.INVOKESTATIC, owner, method, descriptor, false);
  }

  private static void returnUnless(MethodVisitor to, int jump, int value) {
    var on = new Label();
    to.visitJumpInsn(jump, on);
    to.visitIntInsn(Opcodes.BIPUSH, value);
    to.visitInsn(Opcodes.IRETURN);
    place(to, on);
  }

  /** A place that is jumped to, where the stack is empty and variables are the parameters. */
  private static void place(MethodVisitor to, Label label) {
    to.visitLabel(label);
    to.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
  }
}
