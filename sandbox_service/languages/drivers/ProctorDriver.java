package proctor;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** Makes the calls that stdin asks for, and writes each result as a line of JSON. */
public class ProctorDriver {
    static final int OUT_OF_MEMORY = 111;

    static class Stop extends RuntimeException {
        final char kind;

        Stop(char kind, String why) {
            super(why);
            this.kind = kind;
        }
    }

    final byte[] input;
    final String token;
    int position = 0;

    ProctorDriver(byte[] input) {
        this.input = input;
        this.token = line();
    }

    public static void main(String[] args) throws IOException {
        new ProctorDriver(System.in.readAllBytes()).run();
        System.out.flush();
        System.exit(0);
    }

    void run() {
        try {
            for (int left = Integer.parseInt(line()); left > 0; left--) {
                String[] head = line().split(" ");
                int count = Integer.parseInt(head[2]);
                StringBuilder out = new StringBuilder("=");
                if (head[0].equals("class")) object(head[1], count, out);
                else call(head[1], count, out, head[0].equals("call"), head.length > 3 ? head[3] : null);
                say(out);
            }
        } catch (Stop stop) {
            say(stop.kind + stop.getMessage());
            System.exit(1);
        } catch (InvocationTargetException | ExceptionInInitializerError error) {
            fail(error.getCause());
        } catch (Throwable error) {
            fail(error);
        }
    }

    static void fail(Throwable error) {
        boolean memory = error instanceof OutOfMemoryError;
        try {
            StackTraceElement[] trace = error.getStackTrace();
            if (trace.length > 20) error.setStackTrace(Arrays.copyOf(trace, 20));
            error.printStackTrace();
        } finally {
            System.exit(memory ? OUT_OF_MEMORY : 1);
        }
    }

    void say(CharSequence text) {
        try {
            System.out.flush();
            new FileOutputStream(FileDescriptor.out).write(("\n" + token + text + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            fail(error);
        }
    }

    // calls

    final Map<String, Object> kept = new HashMap<>();  // objects by their numbers

    void call(String name, int count, StringBuilder out, boolean inPlace, String number) throws Throwable {
        int dot = name.lastIndexOf('.');
        Class<?> owner = type(dot < 0 ? "Solution" : name.substring(0, dot));
        Method method = method(owner, name.substring(dot + 1), count);
        Object self = number == null ? null : kept.get(number);
        if (self == null && !Modifier.isStatic(method.getModifiers())) self = made(constructor(owner, 0), new Object[0]);
        if (number != null) kept.put(number, self);
        invoke(self, method, out, inPlace);
    }

    void object(String name, int left, StringBuilder out) throws Throwable {
        Class<?> owner = type(name);
        int count = Integer.parseInt(line().split(" ")[1]);
        Constructor<?> constructor = constructor(owner, count);
        Object self = made(constructor, arguments(constructor));
        out.append("[null");
        while (--left > 0) {
            String[] head = line().split(" ");
            out.append(',');
            invoke(self, method(owner, head[0], Integer.parseInt(head[1])), out, false);
        }
        out.append(']');
    }

    void invoke(Object self, Method method, StringBuilder out, boolean inPlace) throws Throwable {
        Object[] arguments = arguments(method);
        Object result = method.invoke(self, arguments);
        Type type = method.getGenericReturnType();
        if (type == void.class && inPlace) {  // what became of the first argument that can change
            for (int index = 0; index < arguments.length; index++) {
                Class<?> raw = method.getParameterTypes()[index];
                if (!raw.isPrimitive() && raw != String.class && !Number.class.isAssignableFrom(raw)) {
                    write(out, arguments[index], raw);
                    return;
                }
            }
        }
        write(out, result, type);
    }

    static Object made(Constructor<?> constructor, Object[] arguments) throws Throwable {
        return constructor.newInstance(arguments);
    }

    Object[] arguments(Executable function) {
        Type[] types = function.getGenericParameterTypes();
        Object[] found = new Object[function.getParameterCount()];
        for (int index = 0; index < found.length; index++) found[index] = read(types[index]);
        return found;
    }

    static Class<?> type(String name) {
        try {
            return Class.forName(name.replace('.', '$'));  // a class in another one; there are no packages
        } catch (ClassNotFoundException error) {
            throw new Stop('?', "there is no class " + name);
        }
    }

    Method method(Class<?> owner, String name, int count) {
        List<Method> all = new ArrayList<>();
        for (Method each : owner.getDeclaredMethods()) {
            if (!each.getName().equals(name) || each.getParameterCount() != count || each.isSynthetic()) continue;
            all.add(Modifier.isPublic(each.getModifiers()) ? 0 : all.size(), each);
        }
        Method found = all.size() < 2 ? null : all.stream().filter(this::fits).findFirst().orElse(null);
        if (found == null && !all.isEmpty()) found = all.get(0);
        if (found == null && owner.getSuperclass() != null && owner.getSuperclass() != Object.class)
            return method(owner.getSuperclass(), name, count);
        if (found == null) throw new Stop('?', "there is no " + owner.getName() + "." + name + " for " + count + " arguments");
        found.setAccessible(true);
        return found;
    }

    /** Whether the arguments that come next are of the method's types. */
    boolean fits(Method method) {
        int start = position;
        try {
            arguments(method);
            return true;
        } catch (Stop misfit) {
            return false;
        } finally {
            position = start;
        }
    }

    static Constructor<?> constructor(Class<?> owner, int count) {
        for (Constructor<?> each : owner.getDeclaredConstructors()) {
            if (each.getParameterCount() != count) continue;
            each.setAccessible(true);
            return each;
        }
        throw new Stop('?', "there is no constructor of " + owner.getName() + " for " + count + " arguments");
    }

    // values in

    String line() {
        int start = position;
        while (input[position] != '\n') position++;
        return new String(input, start, position++ - start, StandardCharsets.ISO_8859_1);
    }

    static Stop misfit(String head, Object wanted) {
        String kind = switch (head.charAt(0)) {
            case 'n' -> "null";
            case 'l' -> "a list";
            case 's' -> "a string";
            case 'm' -> "a dict";
            default -> head.substring(1);
        };
        return new Stop('?', "an argument is " + kind + ", where the function takes " + wanted);
    }

    static Class<?> raw(Type type) {
        if (type instanceof Class<?> found) return found;
        if (type instanceof ParameterizedType found) return raw(found.getRawType());
        if (type instanceof GenericArrayType found) return Array.newInstance(raw(found.getGenericComponentType()), 0).getClass();
        if (type instanceof WildcardType found) return raw(found.getUpperBounds()[0]);
        return Object.class;  // a type variable
    }

    static Type part(Type type, int index) {
        return type instanceof ParameterizedType found ? found.getActualTypeArguments()[index] : Object.class;
    }

    Object read(Type type) {
        Class<?> raw = raw(type);
        String head = line();
        char kind = head.charAt(0);
        if (raw == Object.class) return readAny(head);
        if (raw.getSimpleName().equals("ListNode")) return readNodes(raw, head);
        if (raw.getSimpleName().equals("TreeNode")) return readTree(raw, head);
        if (raw == Optional.class) return kind == 'n' ? Optional.empty() : Optional.of(again(head, part(type, 0)));
        if (kind == 'n' && !raw.isPrimitive()) return null;
        if (raw == boolean.class || raw == Boolean.class) {
            if (kind != 'b') throw misfit(head, "a boolean");
            return head.equals("b1");
        }
        if (raw == char.class || raw == Character.class) {
            String text = text(head, "a char");
            if (text.length() != 1) throw new Stop('?', "an argument is a string of more or less than one char, where the function takes a char");
            return text.charAt(0);
        }
        if (raw == String.class || raw == CharSequence.class) return text(head, "a String");
        if (raw == StringBuilder.class) return new StringBuilder(text(head, "a StringBuilder"));
        if (raw.isPrimitive() || Number.class.isAssignableFrom(raw)) return readNumber(raw, head);
        if (raw.isArray()) {
            Type element = type instanceof GenericArrayType found ? found.getGenericComponentType() : raw.getComponentType();
            int count = count(head, 'l', "an array");
            Object array = Array.newInstance(raw.getComponentType(), count);
            if (array instanceof int[] fast) {
                for (int index = 0; index < count; index++) fast[index] = (Integer) readNumber(int.class, line());
                return array;
            }
            for (int index = 0; index < count; index++) Array.set(array, index, read(element));
            return array;
        }
        if (Collection.class.isAssignableFrom(raw) || raw == Iterable.class) {
            Collection<Object> made = collection(raw);
            for (int left = count(head, 'l', "a " + raw.getSimpleName()); left > 0; left--) made.add(read(part(type, 0)));
            return made;
        }
        if (Map.class.isAssignableFrom(raw)) {
            Map<Object, Object> made = map(raw);
            for (int left = count(head, 'm', "a " + raw.getSimpleName()); left > 0; left--) {
                Object key = readKey(part(type, 0));
                made.put(key, read(part(type, 1)));
            }
            return made;
        }
        throw new Stop('?', "the driver has no values of the type " + type.getTypeName());
    }

    Object again(String head, Type type) {
        position -= head.length() + 1;
        return read(type);
    }

    Object readKey(Type type) {
        Class<?> raw = raw(type);
        if (!Number.class.isAssignableFrom(raw)) return read(type);
        return readNumber(raw, "i" + text(line(), "a key"));
    }

    int count(String head, char kind, String wanted) {
        if (head.charAt(0) != kind) throw misfit(head, wanted);
        return Integer.parseInt(head.substring(1));
    }

    String text(String head, String wanted) {
        int length = count(head, 's', wanted);
        position += length + 1;
        return new String(input, position - length - 1, length, StandardCharsets.UTF_8);
    }

    static Object readNumber(Class<?> raw, String head) {
        char kind = head.charAt(0);
        if (kind != 'i' && kind != 'd') throw misfit(head, raw.getSimpleName());
        String text = head.substring(1);
        if (raw == double.class || raw == Double.class || raw == Number.class) return Double.valueOf(text);
        if (raw == float.class || raw == Float.class) return Float.valueOf(text);
        try {
            if (raw == java.math.BigInteger.class) return new java.math.BigInteger(text);
            if (raw == java.math.BigDecimal.class) return new java.math.BigDecimal(text);
            long value = kind == 'i' ? Long.parseLong(text) : new java.math.BigDecimal(text).longValueExact();
            if (raw == long.class || raw == Long.class) return value;
            if (raw == int.class || raw == Integer.class) return Math.toIntExact(value);
            if (raw == short.class || raw == Short.class) return Short.parseShort(Long.toString(value));
            if (raw == byte.class || raw == Byte.class) return Byte.parseByte(Long.toString(value));
        } catch (ArithmeticException | NumberFormatException error) {
            throw misfit(head, raw.getSimpleName());
        }
        throw new Stop('?', "the driver has no values of the type " + raw.getName());
    }

    Object readAny(String head) {
        switch (head.charAt(0)) {
            case 'n': return null;
            case 'b': return head.equals("b1");
            case 'd': return Double.valueOf(head.substring(1));
            case 's': return text(head, "a String");
            case 'l': return again(head, List.class);
            case 'm': return again(head, Map.class);
            default:
                long value = (Long) readNumber(long.class, head);
                return value == (int) value ? (Object) (int) value : (Object) value;
        }
    }

    @SuppressWarnings("unchecked")
    static Collection<Object> collection(Class<?> raw) {
        if (!raw.isInterface() && !Modifier.isAbstract(raw.getModifiers())) return (Collection<Object>) plain(raw);
        if (raw.isAssignableFrom(ArrayList.class)) return new ArrayList<>();
        if (raw.isAssignableFrom(LinkedList.class)) return new LinkedList<>();
        if (raw.isAssignableFrom(LinkedHashSet.class)) return new LinkedHashSet<>();
        if (raw.isAssignableFrom(TreeSet.class)) return new TreeSet<>();
        throw new Stop('?', "the driver has no values of the type " + raw.getName());
    }

    @SuppressWarnings("unchecked")
    static Map<Object, Object> map(Class<?> raw) {
        if (!raw.isInterface() && !Modifier.isAbstract(raw.getModifiers())) return (Map<Object, Object>) plain(raw);
        return raw.isAssignableFrom(LinkedHashMap.class) ? new LinkedHashMap<>() : new TreeMap<>();
    }

    static Object plain(Class<?> raw) {
        try {
            return raw.getConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new Stop('?', "the driver has no values of the type " + raw.getName());
        }
    }

    // linked lists and trees, of any class that has their name

    static Field field(Class<?> node, String name) {
        try {
            Field found = node.getDeclaredField(name);
            found.setAccessible(true);
            return found;
        } catch (NoSuchFieldException error) {
            throw new Stop('?', "the class " + node.getName() + " has no " + name);
        }
    }

    Object node(Class<?> type, Constructor<?> constructor) {
        try {
            return constructor.newInstance(read(constructor.getParameterTypes()[0]));
        } catch (ReflectiveOperationException error) {
            throw new Stop('?', "a " + type.getName() + " cannot be made of one value");
        }
    }

    Object readNodes(Class<?> type, String head) {
        if (head.equals("n")) return null;
        Object first = null, last = null;
        Constructor<?> constructor = constructor(type, 1);
        Field next = field(type, "next");
        try {
            for (int left = count(head, 'l', "a linked list"); left > 0; left--) {
                Object node = node(type, constructor);
                if (first == null) first = node;
                else next.set(last, node);
                last = node;
            }
        } catch (IllegalAccessException error) {
            throw new Stop('?', error.getMessage());
        }
        return first;
    }

    Object readTree(Class<?> type, String head) {
        if (head.equals("n")) return null;
        Constructor<?> constructor = constructor(type, 1);
        Field[] sides = {field(type, "left"), field(type, "right")};
        Object root = null;
        ArrayDeque<Object> parents = new ArrayDeque<>();
        int side = 0, left = count(head, 'l', "a tree");
        try {
            for (; left > 0; left--) {
                Object node = null;
                if (input[position] == 'n') line();
                else node = node(type, constructor);
                if (root == null) {
                    if (node == null) break;
                    root = node;
                    parents.add(node);
                    continue;
                }
                if (parents.isEmpty()) continue;
                sides[side].set(parents.peek(), node);
                if (node != null) parents.add(node);
                if (side == 1) parents.remove();
                side = 1 - side;
            }
        } catch (IllegalAccessException error) {
            throw new Stop('?', error.getMessage());
        }
        for (left--; root == null && left > 0; left--) read(Object.class);
        return root;
    }

    // values out

    void write(StringBuilder out, Object value, Type declared) {
        String name = (value == null ? raw(declared) : value.getClass()).getSimpleName();
        if (name.equals("ListNode")) writeNodes(out, value);
        else if (name.equals("TreeNode")) writeTree(out, value);
        else if (value == null) out.append("null");
        else if (value instanceof Double || value instanceof Float) out.append(value);
        else if (value instanceof Number || value instanceof Boolean) out.append(value);
        else if (value instanceof Character || value instanceof CharSequence) writeText(out, value.toString());
        else if (value instanceof Optional<?> found) write(out, found.orElse(null), Object.class);
        else if (value instanceof int[] fast) writeInts(out, fast);
        else if (value.getClass().isArray()) writeArray(out, value);
        else if (value instanceof Map<?, ?> found) writeMap(out, found);
        else if (value instanceof HashSet<?> found && !(value instanceof LinkedHashSet<?>)) {
            out.append("{\"__set__\":");
            writeAll(out, found, Object.class);
            out.append('}');
        } else if (value instanceof Iterable<?> found) writeAll(out, found, part(declared, 0));
        else if (value.getClass().isEnum()) writeText(out, value.toString());
        else throw new Stop('?', "the driver cannot write a result of the type " + value.getClass().getName());
    }

    void writeInts(StringBuilder out, int[] values) {
        out.append('[');
        for (int index = 0; index < values.length; index++) out.append(index == 0 ? "" : ",").append(values[index]);
        out.append(']');
    }

    void writeArray(StringBuilder out, Object values) {
        Class<?> element = values.getClass().getComponentType();
        out.append('[');
        for (int index = 0; index < Array.getLength(values); index++) {
            if (index > 0) out.append(',');
            write(out, Array.get(values, index), element);
        }
        out.append(']');
    }

    void writeAll(StringBuilder out, Iterable<?> values, Type element) {
        out.append('[');
        boolean first = true;
        for (Object each : values) {
            if (!first) out.append(',');
            first = false;
            write(out, each, element);
        }
        out.append(']');
    }

    void writeMap(StringBuilder out, Map<?, ?> values) {
        out.append('{');
        boolean first = true;
        for (Map.Entry<?, ?> each : values.entrySet()) {
            if (!first) out.append(',');
            first = false;
            StringBuilder key = new StringBuilder();
            write(key, each.getKey(), Object.class);
            if (key.charAt(0) == '"') out.append(key);
            else writeText(out, key.toString());
            out.append(':');
            write(out, each.getValue(), Object.class);
        }
        out.append('}');
    }

    static void writeText(StringBuilder out, String text) {
        out.append('"');
        for (int index = 0; index < text.length(); index++) {
            char each = text.charAt(index);
            if (each == '"' || each == '\\') out.append('\\').append(each);
            else if (each < 32 || Character.isSurrogate(each)) out.append(String.format("\\u%04x", (int) each));
            else out.append(each);
        }
        out.append('"');
    }

    static RuntimeException twice() {
        return new RuntimeException("the function returned nodes of which one is reached twice");
    }

    void writeNodes(StringBuilder out, Object node) {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        out.append('[');
        try {
            Field value = node == null ? null : field(node.getClass(), "val");
            Field next = node == null ? null : field(node.getClass(), "next");
            for (boolean first = true; node != null; node = next.get(node), first = false) {
                if (!seen.add(node)) throw twice();
                if (!first) out.append(',');
                write(out, value.get(node), Object.class);
            }
        } catch (IllegalAccessException error) {
            throw new Stop('?', error.getMessage());
        }
        out.append(']');
    }

    void writeTree(StringBuilder out, Object root) {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        LinkedList<Object> waiting = new LinkedList<>();  // which takes nulls
        waiting.add(root);
        out.append('[');
        int whole = out.length();  // without the nulls at the end
        try {
            Field value = root == null ? null : field(root.getClass(), "val");
            Field left = root == null ? null : field(root.getClass(), "left");
            Field right = root == null ? null : field(root.getClass(), "right");
            for (boolean first = true; !waiting.isEmpty(); first = false) {
                Object node = waiting.remove();
                if (!first) out.append(',');
                if (node == null) {
                    out.append("null");
                    continue;
                }
                if (!seen.add(node)) throw twice();
                write(out, value.get(node), Object.class);
                whole = out.length();
                waiting.add(left.get(node));
                waiting.add(right.get(node));
            }
        } catch (IllegalAccessException error) {
            throw new Stop('?', error.getMessage());
        }
        out.setLength(whole);
        out.append(']');
    }
}
