// Makes the calls that stdin asks for, and writes each result as a line of JSON.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Numerics;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

public class ProctorDriver
{
    const int OutOfMemory = 111;
    const int StackBytes = 256 << 20;
    const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;
    static readonly CultureInfo Plain = CultureInfo.InvariantCulture;

    class StopException : Exception
    {
        public readonly char Kind;
        public StopException(char kind, string why) : base(why) { Kind = kind; }
    }

    readonly byte[] input;
    readonly string token;
    int position = 0;

    ProctorDriver(byte[] input)
    {
        this.input = input;
        token = Line();
    }

    public static void Main()
    {
        var all = new MemoryStream();
        Console.OpenStandardInput().CopyTo(all);
        var thread = new Thread(new ProctorDriver(all.ToArray()).Run, StackBytes);
        thread.Start();
        thread.Join();
        Console.Out.Flush();
        Environment.Exit(0);
    }

    void Run()
    {
        try
        {
            for (int left = int.Parse(Line()); left > 0; left--)
            {
                string[] head = Line().Split(' ');
                var result = new StringBuilder("=");
                if (head[0] == "class") MakeObject(head[1], int.Parse(head[2]), result);
                else MakeCall(head[1], int.Parse(head[2]), result);
                Say(result.ToString());
            }
        }
        catch (StopException stop)
        {
            Say(stop.Kind + stop.Message);
            Environment.Exit(1);
        }
        catch (Exception error)
        {
            while (error is TargetInvocationException && error.InnerException != null) error = error.InnerException;
            Console.Error.WriteLine(error);
            Environment.Exit(error is OutOfMemoryException ? OutOfMemory : 1);
        }
    }

    void Say(string text)
    {
        Console.Out.Flush();
        byte[] bytes = Encoding.UTF8.GetBytes("\n" + token + text + "\n");
        using (Stream to = Console.OpenStandardOutput()) to.Write(bytes, 0, bytes.Length);
    }

    // calls

    void MakeCall(string name, int count, StringBuilder result)
    {
        int dot = name.LastIndexOf('.');
        Type owner = Find(dot < 0 ? "Solution" : name.Substring(0, dot));
        MethodInfo method = FindMethod(owner, name.Substring(dot + 1), count);
        object self = method.IsStatic ? null : Make(owner, 0, new object[0]);
        Invoke(self, method, result, true);
    }

    void MakeObject(string name, int left, StringBuilder result)
    {
        Type owner = Find(name);
        int count = int.Parse(Line().Split(' ')[1]);
        object self = Make(owner, count, Arguments(FindConstructor(owner, count)));
        result.Append("[null");
        while (--left > 0)
        {
            string[] head = Line().Split(' ');
            result.Append(',');
            Invoke(self, FindMethod(owner, head[0], int.Parse(head[1])), result, false);
        }
        result.Append(']');
    }

    void Invoke(object self, MethodInfo method, StringBuilder result, bool inPlace)
    {
        object[] arguments = Arguments(method);
        object value = method.Invoke(self, arguments);
        Type type = method.ReturnType;
        if (type == typeof(void) && inPlace)  // what became of the first argument that can change
        {
            ParameterInfo[] parameters = method.GetParameters();
            int changed = Array.FindIndex(parameters, each => !each.ParameterType.IsValueType && each.ParameterType != typeof(string));
            if (changed >= 0)
            {
                value = arguments[changed];
                type = Direct(parameters[changed].ParameterType);
            }
        }
        Write(result, value, type);
    }

    static Type Direct(Type type) { return type.IsByRef ? type.GetElementType() : type; }

    object[] Arguments(MethodBase function)
    {
        return function.GetParameters().Select(each => Read(Direct(each.ParameterType))).ToArray();
    }

    static Type Find(string name)
    {
        Type found = typeof(ProctorDriver).Assembly.GetTypes().FirstOrDefault(each => each.Name == name.Substring(name.LastIndexOf('.') + 1));
        if (found == null) throw new StopException('?', "there is no class " + name);
        return found;
    }

    static MethodInfo FindMethod(Type owner, string name, int count)
    {
        MethodInfo[] named = owner.GetMethods(All).Where(each => each.Name == name && each.GetParameters().Length == count).ToArray();
        MethodInfo found = named.FirstOrDefault(each => each.IsPublic) ?? named.FirstOrDefault();
        if (found == null) throw new StopException('?', "there is no " + owner.Name + "." + name + " for " + count + " arguments");
        return found;
    }

    static ConstructorInfo FindConstructor(Type owner, int count)
    {
        ConstructorInfo found = owner.GetConstructors(All).FirstOrDefault(each => !each.IsStatic && each.GetParameters().Length == count);
        if (found == null) throw new StopException('?', "there is no constructor of " + owner.Name + " for " + count + " arguments");
        return found;
    }

    static object Make(Type owner, int count, object[] arguments) { return FindConstructor(owner, count).Invoke(arguments); }

    // values in

    string Line()
    {
        int end = Array.IndexOf(input, (byte)'\n', position);
        string found = Encoding.ASCII.GetString(input, position, end - position);
        position = end + 1;
        return found;
    }

    static StopException Misfit(string head, string wanted)
    {
        int kind = "nlsm".IndexOf(head[0]);
        string given = kind < 0 ? head.Substring(1) : new[] { "null", "a list", "a string", "a dict" }[kind];
        return new StopException('?', "an argument is " + given + ", where the function takes " + wanted);
    }

    static int Count(string head, char kind, string wanted)
    {
        if (head[0] != kind) throw Misfit(head, wanted);
        return int.Parse(head.Substring(1));
    }

    string Text(string head, string wanted)
    {
        int length = Count(head, 's', wanted);
        position += length + 1;
        return Encoding.UTF8.GetString(input, position - length - 1, length);
    }

    object Read(Type type)
    {
        if (type.Name == "ListNode") return ReadNodes(type, Line());
        if (type.Name == "TreeNode") return ReadTree(type, Line());
        string head = Line();
        Type inner = Nullable.GetUnderlyingType(type);
        if (head == "n" && (inner != null || !type.IsValueType)) return null;
        type = inner ?? type;
        if (type == typeof(object)) return ReadAny(head);
        if (type == typeof(bool))
        {
            if (head[0] != 'b') throw Misfit(head, "a bool");
            return head == "b1";
        }
        if (type == typeof(char))
        {
            string text = Text(head, "a char");
            if (text.Length != 1) throw new StopException('?', "an argument is a string of more or less than one char, where the function takes a char");
            return text[0];
        }
        if (type == typeof(string)) return Text(head, "a string");
        if (type.IsPrimitive || type == typeof(decimal) || type == typeof(BigInteger)) return ReadNumber(type, head);
        if (type.IsArray && type.GetArrayRank() == 1) return ReadArray(type.GetElementType(), head);
        if (type.IsArray && type.GetArrayRank() == 2) return ReadGrid(type.GetElementType(), head);
        if (typeof(ITuple).IsAssignableFrom(type)) return ReadTuple(type, head);
        if (type.IsGenericType) return ReadGeneric(type, head);
        throw new StopException('?', "the driver has no values of the type " + type);
    }

    static object ReadNumber(Type type, string head)
    {
        if (head[0] != 'i' && head[0] != 'd') throw Misfit(head, type.Name);
        string text = head.Substring(1);
        try
        {
            if (text.EndsWith("Infinity")) return Convert.ChangeType(text[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity, type);
            if (type == typeof(double)) return double.Parse(text, Plain);
            if (type == typeof(float)) return float.Parse(text, Plain);
            if (type == typeof(BigInteger)) return BigInteger.Parse(text, Plain);
            if (head[0] == 'i') return Convert.ChangeType(decimal.Parse(text, Plain), type, Plain);
            decimal real = decimal.Parse(text, NumberStyles.Float, Plain);
            if (type != typeof(decimal) && real != decimal.Truncate(real)) throw Misfit(head, type.Name);
            return Convert.ChangeType(real, type, Plain);
        }
        catch (OverflowException) { throw Misfit(head, type.Name); }
        catch (FormatException) { throw Misfit(head, type.Name); }
    }

    Array ReadArray(Type element, string head)
    {
        Array found = Array.CreateInstance(element, Count(head, 'l', "an array"));
        for (int index = 0; index < found.Length; index++) found.SetValue(Read(element), index);
        return found;
    }

    object ReadGrid(Type element, string head)
    {
        var rows = (Array[])ReadArray(element.MakeArrayType(), head);
        Array found = Array.CreateInstance(element, rows.Length, rows.Length == 0 ? 0 : rows[0].Length);
        for (int row = 0; row < rows.Length; row++)
            for (int column = 0; column < rows[row].Length; column++) found.SetValue(rows[row].GetValue(column), row, column);
        return found;
    }

    object ReadTuple(Type type, string head)
    {
        Type[] parts = type.GetGenericArguments();
        if (Count(head, 'l', "a tuple") != parts.Length) throw Misfit(head, "a tuple of another length");
        return Activator.CreateInstance(type, parts.Select(Read).ToArray());
    }

    object ReadGeneric(Type type, string head)
    {
        Type[] parts = type.GetGenericArguments();
        if (parts.Length == 2 && typeof(IEnumerable).IsAssignableFrom(type))
        {
            Type made = type.IsInterface ? typeof(Dictionary<,>).MakeGenericType(parts) : type;
            var table = (IDictionary)Activator.CreateInstance(made);
            for (int left = Count(head, 'm', "a dictionary"); left > 0; left--)
            {
                object key = parts[0] == typeof(string) || parts[0] == typeof(char) ? Read(parts[0]) : ReadNumber(parts[0], "i" + Text(Line(), "a key"));
                table.Add(key, Read(parts[1]));
            }
            return table;
        }
        if (parts.Length != 1 || !typeof(IEnumerable).IsAssignableFrom(type)) throw new StopException('?', "the driver has no values of the type " + type);
        Array values = ReadArray(parts[0], head);
        if (!type.IsInterface) return Activator.CreateInstance(type, values);
        Type set = typeof(HashSet<>).MakeGenericType(parts);
        return Activator.CreateInstance(type.Name.StartsWith("ISet") ? set : typeof(List<>).MakeGenericType(parts), values);
    }

    object ReadAny(string head)
    {
        switch (head[0])
        {
            case 'b': return head == "b1";
            case 'd': return ReadNumber(typeof(double), head);
            case 's': return Text(head, "a string");
            case 'l': return Enumerable.Range(0, Count(head, 'l', "")).Select(_ => Read(typeof(object))).ToList();
            case 'm': return ReadGeneric(typeof(Dictionary<string, object>), head);
        }
        long value = (long)ReadNumber(typeof(long), head);
        return value == (int)value ? (object)(int)value : value;
    }

    static void Set(object node, string name, object value)
    {
        Type type = node.GetType();
        FieldInfo field = type.GetField(name, All | BindingFlags.IgnoreCase);
        if (field != null) field.SetValue(node, value);
        else if (type.GetProperty(name, All | BindingFlags.IgnoreCase) is PropertyInfo property) property.SetValue(node, value);
        else throw new StopException('?', "the class " + type.Name + " has no " + name);
    }

    static object Get(object node, string name)
    {
        Type type = node.GetType();
        FieldInfo field = type.GetField(name, All | BindingFlags.IgnoreCase);
        if (field != null) return field.GetValue(node);
        if (type.GetProperty(name, All | BindingFlags.IgnoreCase) is PropertyInfo property) return property.GetValue(node);
        throw new StopException('?', "the class " + type.Name + " has no " + name);
    }

    object Node(Type type)
    {
        ConstructorInfo constructor = type.GetConstructors(All).Where(each => !each.IsStatic).OrderBy(each => each.GetParameters().Length == 0).First();
        object[] arguments = constructor.GetParameters().Select(each => each.HasDefaultValue ? each.DefaultValue : null).ToArray();
        if (arguments.Length == 0) throw new StopException('?', "a " + type.Name + " cannot be made of one value");
        arguments[0] = Read(constructor.GetParameters()[0].ParameterType);
        return constructor.Invoke(arguments);
    }

    object ReadNodes(Type type, string head)
    {
        if (head == "n") return null;
        object first = null, last = null;
        for (int left = Count(head, 'l', "a linked list"); left > 0; left--)
        {
            object node = Node(type);
            if (first == null) first = node;
            else Set(last, "next", node);
            last = node;
        }
        return first;
    }

    object ReadTree(Type type, string head)
    {
        if (head == "n") return null;
        object root = null;
        var places = new Queue<Action<object>>();
        places.Enqueue(node => root = node);
        for (int left = Count(head, 'l', "a tree"); left > 0; left--)
        {
            object node = null;
            if (places.Count == 0)
            {
                Read(typeof(object));
                continue;
            }
            if (input[position] == 'n') Line();
            else node = Node(type);
            Action<object> place = places.Dequeue();
            if (node == null) continue;
            place(node);
            places.Enqueue(child => Set(node, "left", child));
            places.Enqueue(child => Set(node, "right", child));
        }
        return root;
    }

    // values out

    void Write(StringBuilder to, object value, Type declared)
    {
        string name = (value == null ? declared : value.GetType()).Name;
        if (name == "ListNode") WriteAll(to, Nodes(value));
        else if (name == "TreeNode") WriteAll(to, Tree(value));
        else if (value == null) to.Append("null");
        else if (value is bool) to.Append((bool)value ? "true" : "false");
        else if (value is string || value is char || value is StringBuilder || value.GetType().IsEnum) WriteText(to, value.ToString());
        else if (value is double) WriteReal(to, (double)value, ((double)value).ToString("R", Plain));
        else if (value is float) WriteReal(to, (float)value, ((float)value).ToString("R", Plain));
        else if (value.GetType().IsPrimitive || value is decimal || value is BigInteger) to.Append(Convert.ToString(value, Plain));
        else if (value is Array && ((Array)value).Rank == 2) WriteAll(to, Rows((Array)value));
        else if (value is ITuple) WriteAll(to, Enumerable.Range(0, ((ITuple)value).Length).Select(index => ((ITuple)value)[index]));
        else if (value is IDictionary) WriteTable(to, (IDictionary)value);
        else if (name.StartsWith("HashSet"))
        {
            to.Append("{\"__set__\":");
            WriteAll(to, (IEnumerable)value);
            to.Append('}');
        }
        else if (value is IEnumerable) WriteAll(to, (IEnumerable)value, Element(value.GetType()));
        else throw new StopException('?', "the driver cannot write a result of the type " + value.GetType());
    }

    static Type Element(Type type)
    {
        return type.GetElementType() ?? type.GetGenericArguments().FirstOrDefault() ?? typeof(object);
    }

    static void WriteReal(StringBuilder to, double value, string text)
    {
        to.Append(double.IsNaN(value) ? "NaN" : double.IsInfinity(value) ? value > 0 ? "Infinity" : "-Infinity" : text);
    }

    void WriteAll(StringBuilder to, IEnumerable values, Type element = null)
    {
        to.Append('[');
        bool first = true;
        foreach (object each in values)
        {
            if (!first) to.Append(',');
            first = false;
            Write(to, each, element ?? typeof(object));
        }
        to.Append(']');
    }

    void WriteTable(StringBuilder to, IDictionary values)
    {
        to.Append('{');
        bool first = true;
        foreach (DictionaryEntry each in values)
        {
            if (!first) to.Append(',');
            first = false;
            var key = new StringBuilder();
            Write(key, each.Key, typeof(object));
            if (key[0] == '"') to.Append(key);
            else WriteText(to, key.ToString());
            to.Append(':');
            Write(to, each.Value, typeof(object));
        }
        to.Append('}');
    }

    static void WriteText(StringBuilder to, string text)
    {
        to.Append('"');
        foreach (char each in text)
        {
            if (each == '"' || each == '\\') to.Append('\\').Append(each);
            else if (each < 32 || char.IsSurrogate(each)) to.Append("\\u" + ((int)each).ToString("x4"));
            else to.Append(each);
        }
        to.Append('"');
    }

    static IEnumerable<object> Rows(Array grid)
    {
        for (int row = 0; row < grid.GetLength(0); row++)
            yield return Enumerable.Range(0, grid.GetLength(1)).Select(column => grid.GetValue(row, column)).ToList();
    }

    class Same : IEqualityComparer<object>
    {
        bool IEqualityComparer<object>.Equals(object one, object other) { return ReferenceEquals(one, other); }
        int IEqualityComparer<object>.GetHashCode(object value) { return RuntimeHelpers.GetHashCode(value); }
    }

    static List<object> Nodes(object node)
    {
        var found = new List<object>();
        var seen = new HashSet<object>(new Same());
        for (; node != null; node = Get(node, "next"))
        {
            if (!seen.Add(node)) throw new InvalidOperationException("the function returned a linked list with a cycle");
            found.Add(Get(node, "val"));
        }
        return found;
    }

    static List<object> Tree(object root)
    {
        var found = new List<object>();
        var seen = new HashSet<object>(new Same());
        var waiting = new Queue<object>(new[] { root });
        while (waiting.Count > 0)
        {
            object node = waiting.Dequeue();
            found.Add(node == null ? null : Get(node, "val"));
            if (node == null) continue;
            if (!seen.Add(node)) throw new InvalidOperationException("the function returned a tree in which a node is reached twice");
            waiting.Enqueue(Get(node, "left"));
            waiting.Enqueue(Get(node, "right"));
        }
        while (found.Count > 0 && found[found.Count - 1] == null) found.RemoveAt(found.Count - 1);
        return found;
    }
}
