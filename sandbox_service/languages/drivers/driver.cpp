// Makes the calls that stdin asks for, and writes each result as a line of JSON. The submission is above.
// What the types of parameters are, the compiler finds out: an argument converts itself to what a parameter wants.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
#include <unistd.h>

namespace proctor_driver {

std::string input, token;
std::size_t position = 0;
bool in_place;  // the call may answer by what becomes of an argument

[[noreturn]] void stop(char kind, const std::string& why);

void put(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        ssize_t count = ::write(1, text.data() + done, text.size() - done);
        if (count <= 0) ::_exit(1);
        done += count;
    }
}

void stop(char kind, const std::string& why) {
    std::fflush(stdout);
    put("\n" + token + kind + why + "\n");
    ::_exit(1);
}

[[noreturn]] void misfit(std::string_view wanted, std::string_view line) {
    std::string kind = line.empty() ? "nothing" : line[0] == 'l' ? "a list" : line[0] == 's' ? "a string"
        : line[0] == 'n' ? "null" : line[0] == 'm' ? "a dict" : std::string(line.substr(1));
    stop('?', "an argument is " + kind + ", where the function takes " + std::string(wanted));
}

std::string_view line() {
    std::size_t end = input.find('\n', position);
    if (end == std::string::npos) stop('?', "the calls end too early");
    std::string_view found(input.data() + position, end - position);
    position = end + 1;
    return found;
}

std::size_t number(std::string_view text) {
    std::size_t found = 0;
    std::from_chars(text.data(), text.data() + text.size(), found);
    return found;
}

void skip() {
    for (std::size_t left = 1; left > 0; left--) {
        std::string_view head = line();
        std::size_t count = number(head.substr(1));
        if (head[0] == 's') position += count + 1;
        if (head[0] == 'l') left += count;
        if (head[0] == 'm') left += 2 * count;
    }
}

std::size_t items(const char* wanted) {
    std::string_view head = line();
    if (head[0] != 'l') misfit(wanted, head);
    return number(head.substr(1));
}

template <class T, class = void> struct is_node : std::false_type {};
template <class T> struct is_node<T, std::void_t<decltype(std::declval<T&>().val), decltype(std::declval<T&>().next)>>
    : std::true_type {};
template <class T, class = void> struct is_tree : std::false_type {};
template <class T> struct is_tree<T, std::void_t<decltype(std::declval<T&>().val), decltype(std::declval<T&>().left),
                                                 decltype(std::declval<T&>().right)>> : std::true_type {};
template <class T> constexpr bool is_byte = std::is_same_v<T, char>;

template <class T, class = void> struct Plain {
    static_assert(!sizeof(T), "proctor: unsupported type of a parameter or result");
    static void read(T&) {}
    static void write(std::string&, const T&) {}
};

template <class T> T read() {
    T value{};
    Plain<T>::read(value);
    return value;
}

template <class T> void write(std::string& out, const T& value) { Plain<std::decay_t<T>>::write(out, value); }

template <> struct Plain<bool> {
    static void read(bool& to) {
        std::string_view head = line();
        bool is_number = !in_place && (head[0] == 'i' || head[0] == 'd');  // test programs convert as C++ does
        if (head[0] != 'b' && !is_number) misfit("a bool", head);
        to = head.find_first_of("123456789") != head.npos;
    }
    static void write(std::string& out, bool value) { out += value ? "true" : "false"; }
};

template <class T> struct Plain<T, std::enable_if_t<std::is_integral_v<T> && !is_byte<T>>> {
    static void read(T& to) {
        std::string_view head = line();
        const char *from = head.data() + 1, *end = head.data() + head.size();
        if (head[0] == 'i') {
            auto [rest, error] = std::from_chars(from, end, to);
            if (error != std::errc() || rest != end) misfit("an integer of another range", head);
        } else if (head[0] == 'b' && !in_place) {
            to = head[1] == '1';
        } else if (double real; head[0] == 'd' && std::from_chars(from, end, real).ec == std::errc()
                   && real == std::trunc(real) && std::fabs(real) < 9e15) {
            to = static_cast<T>(real);
        } else {
            misfit("an integer", head);
        }
    }
    static void write(std::string& out, T value) {
        char text[24];
        out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
};

template <class T> struct Plain<T, std::enable_if_t<std::is_floating_point_v<T>>> {
    static void read(T& to) {
        std::string_view head = line();
        std::string_view text = head.substr(1);
        if (head[0] != 'd' && head[0] != 'i') misfit("a number", head);
        bool minus = text[0] == '-';
        if (text.find("Infinity") != text.npos) to = minus ? -HUGE_VAL : HUGE_VAL;
        else if (text == "NaN") to = std::nan("");
        else std::from_chars(text.data(), text.data() + text.size(), to);
    }
    static void write(std::string& out, T value) {
        if (std::isnan(value)) { out += "NaN"; return; }
        if (std::isinf(value)) { out += value < 0 ? "-Infinity" : "Infinity"; return; }
        char text[64];
        if constexpr (sizeof(T) > 8) out.append(text, std::to_chars(text, text + sizeof text, double(value)).ptr);
        else out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
};

inline void write_text(std::string& out, std::string_view text) {
    out += '"';
    for (char each : text) {
        if (each == '"' || each == '\\') {
            out += '\\';
            out += each;
        } else if (static_cast<unsigned char>(each) < 32) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", each);
            out += escaped;
        } else {
            out += each;
        }
    }
    out += '"';
}

inline std::string_view text() {
    std::string_view head = line();
    if (head[0] != 's') misfit("a string", head);
    std::size_t length = number(head.substr(1));
    std::string_view found(input.data() + position, length);
    position += length + 1;
    return found;
}

template <> struct Plain<char> {
    static void read(char& to) {
        std::string_view found = text();
        if (found.size() != 1) stop('?', "an argument is a string of more or less than one byte, where the function takes a char");
        to = found[0];
    }
    static void write(std::string& out, char value) { write_text(out, {&value, 1}); }
};

template <> struct Plain<std::string> {
    static void read(std::string& to) { to = text(); }
    static void write(std::string& out, const std::string& value) { write_text(out, value); }
};
template <> struct Plain<std::string_view> {
    static void read(std::string_view& to) { to = text(); }
    static void write(std::string& out, std::string_view value) { write_text(out, value); }
};
template <> struct Plain<const char*> {
    static void read(const char*& to) { to = (new std::string(text()))->c_str(); }
    static void write(std::string& out, const char* value) {
        if (value) write_text(out, value);
        else out += "null";
    }
};
template <> struct Plain<char*> {
    static void read(char*& to) { to = (new std::string(text()))->data(); }
    static void write(std::string& out, const char* value) { Plain<const char*>::write(out, value); }
};
template <> struct Plain<std::nullptr_t> {
    static void write(std::string& out, std::nullptr_t) { out += "null"; }
};

template <class C> void write_all(std::string& out, const C& values) {
    out += '[';
    bool first = true;
    for (const auto& each : values) {
        if (!first) out += ',';
        first = false;
        write<typename C::value_type>(out, each);
    }
    out += ']';
}

template <class C> struct Sequence {
    static void read(C& to) {
        for (std::size_t left = items("a list"); left > 0; left--)
            to.insert(to.end(), proctor_driver::read<typename C::value_type>());
    }
    static void write(std::string& out, const C& values) { write_all(out, values); }
};
template <class T, class A> struct Plain<std::vector<T, A>> : Sequence<std::vector<T, A>> {};
template <class T> struct Plain<std::deque<T>> : Sequence<std::deque<T>> {};
template <class T> struct Plain<std::list<T>> : Sequence<std::list<T>> {};
template <class T, class L> struct Plain<std::set<T, L>> : Sequence<std::set<T, L>> {};
template <class T, class L> struct Plain<std::multiset<T, L>> : Sequence<std::multiset<T, L>> {};
template <class C> struct Unordered : Sequence<C> {
    static void write(std::string& out, const C& values) {
        out += "{\"__set__\":";
        write_all(out, values);
        out += '}';
    }
};
template <class T, class H> struct Plain<std::unordered_set<T, H>> : Unordered<std::unordered_set<T, H>> {};
template <class T, std::size_t N> struct Plain<std::array<T, N>> {
    static void read(std::array<T, N>& to) {
        if (items("a list") != N) stop('?', "an argument is a list of another length than the function takes");
        for (T& each : to) each = proctor_driver::read<T>();
    }
    static void write(std::string& out, const std::array<T, N>& values) { write_all(out, values); }
};

template <class K> K key() {
    if constexpr (std::is_arithmetic_v<K> && !is_byte<K>) {  // JSON has strings as keys only
        std::string_view written = text();
        K found{};
        std::from_chars(written.data(), written.data() + written.size(), found);
        return found;
    } else {
        return read<K>();
    }
}

template <class M> struct Table {
    static void read(M& to) {
        std::string_view head = line();
        if (head[0] != 'm') misfit("a dict", head);
        for (std::size_t left = number(head.substr(1)); left > 0; left--) {
            auto name = key<typename M::key_type>();
            to.emplace(std::move(name), proctor_driver::read<typename M::mapped_type>());
        }
    }
    static void write(std::string& out, const M& values) {
        out += '{';
        bool first = true;
        for (const auto& [name, value] : values) {
            if (!first) out += ',';
            first = false;
            std::string written;
            proctor_driver::write(written, name);
            if (written[0] == '"') out += written;
            else write_text(out, written);
            out += ':';
            proctor_driver::write(out, value);
        }
        out += '}';
    }
};
template <class K, class V, class L> struct Plain<std::map<K, V, L>> : Table<std::map<K, V, L>> {};
template <class K, class V, class H> struct Plain<std::unordered_map<K, V, H>> : Table<std::unordered_map<K, V, H>> {};

template <class A, class B> struct Plain<std::pair<A, B>> {
    static void read(std::pair<A, B>& to) {
        if (items("a pair") != 2) stop('?', "an argument is a list of another length than the function takes");
        to.first = proctor_driver::read<A>();
        to.second = proctor_driver::read<B>();
    }
    static void write(std::string& out, const std::pair<A, B>& value) {
        out += '[';
        proctor_driver::write(out, value.first);
        out += ',';
        proctor_driver::write(out, value.second);
        out += ']';
    }
};
template <class... T> struct Plain<std::tuple<T...>> {
    static void read(std::tuple<T...>& to) {
        if (items("a tuple") != sizeof...(T)) stop('?', "an argument is a list of another length than the function takes");
        to = std::tuple<T...>{proctor_driver::read<T>()...};
    }
    static void write(std::string& out, const std::tuple<T...>& value) {
        out += '[';
        std::apply([&](const T&... each) {
            std::size_t left = sizeof...(T);
            ((proctor_driver::write(out, each), out += --left ? "," : ""), ...);
        }, value);
        out += ']';
    }
};
template <class T> struct Plain<std::optional<T>> {
    static void read(std::optional<T>& to) {
        if (input[position] == 'n') line();
        else to = proctor_driver::read<T>();
    }
    static void write(std::string& out, const std::optional<T>& value) {
        if (value) proctor_driver::write(out, *value);
        else out += "null";
    }
};
template <class T> struct Plain<std::unique_ptr<T>> {
    static void read(std::unique_ptr<T>& to) { to.reset(proctor_driver::read<T*>()); }
    static void write(std::string& out, const std::unique_ptr<T>& value) { proctor_driver::write(out, value.get()); }
};

template <class N> N* made() {
    using Value = std::decay_t<decltype(std::declval<N>().val)>;
    if constexpr (std::is_constructible_v<N, Value>) {
        return new N(proctor_driver::read<Value>());
    } else {
        N* node = new N();
        node->val = proctor_driver::read<Value>();
        return node;
    }
}

template <class N> struct Plain<N*, std::enable_if_t<is_node<N>::value && !is_tree<N>::value>> {  // a linked list
    static void read(N*& to) {
        to = nullptr;
        if (input[position] == 'n') { line(); return; }
        N** end = &to;
        for (std::size_t left = items("a linked list"); left > 0; left--) {
            *end = made<N>();
            end = &(*end)->next;
            *end = nullptr;
        }
    }
    static void write(std::string& out, const N* node) {
        std::unordered_set<const void*> seen;
        out += '[';
        for (bool first = true; node; node = node->next, first = false) {
            if (!seen.insert(node).second) {
                std::fputs("the function returned a linked list with a cycle\n", stderr);
                std::exit(1);
            }
            if (!first) out += ',';
            proctor_driver::write(out, node->val);
        }
        out += ']';
    }
};

template <class N> struct Plain<N*, std::enable_if_t<is_tree<N>::value>> {  // a binary tree, in level order
    static void read(N*& to) {
        to = nullptr;
        if (input[position] == 'n') { line(); return; }
        std::queue<N**> places;
        places.push(&to);
        for (std::size_t left = items("a tree"); left > 0; left--) {
            if (places.empty()) { skip(); continue; }
            N** place = places.front();
            places.pop();
            if (input[position] == 'n') { line(); continue; }
            *place = made<N>();
            (*place)->left = (*place)->right = nullptr;
            places.push(&(*place)->left);
            places.push(&(*place)->right);
        }
    }
    static void write(std::string& out, const N* root) {
        std::unordered_set<const void*> seen;
        std::queue<const N*> waiting;
        waiting.push(root);
        out += '[';
        std::size_t whole = out.size();  // without the nulls at the end
        while (!waiting.empty()) {
            const N* node = waiting.front();
            waiting.pop();
            if (out.back() != '[') out += ',';
            if (!node) { out += "null"; continue; }
            if (!seen.insert(node).second) {
                std::fputs("the function returned a tree in which a node is reached twice\n", stderr);
                std::exit(1);
            }
            proctor_driver::write(out, node->val);
            whole = out.size();
            waiting.push(node->left);
            waiting.push(node->right);
        }
        out.resize(whole);
        out += ']';
    }
};

template <class Self> class Argument {
public:
    // not to Self: a constructor's argument must not be taken for an object to copy
    template <class T, class = std::enable_if_t<!std::is_same_v<std::remove_cv_t<T>, Self>>> operator T&() const {
        return get<std::remove_cv_t<T>>();
    }
    template <class Value> Value& get() const {
        std::size_t rest = position;
        position = at;
        auto* held = new Value(proctor_driver::read<Value>());
        position = rest;
        if constexpr (!std::is_arithmetic_v<Value>) changed = [held] {
            std::string out;
            proctor_driver::write(out, *held);
            return out;
        };
        return *held;
    }
    Argument() : at(position) { skip(); }
    mutable std::function<std::string()> changed;

private:
    std::size_t at;
};

// an argument for a parameter of a type that is told
template <class P, class Self> decltype(auto) as(const Argument<Self>& argument) {
    using Value = std::remove_cv_t<std::remove_reference_t<P>>;
    Value& held = argument.template get<Value>();
    if constexpr (std::is_rvalue_reference_v<P>) return std::move(held);
    else return (held);
}

template <class T, class = void> struct has_items : std::false_type {};
template <class T> struct has_items<T, std::void_t<typename T::value_type>> : std::true_type {};
template <class T, class = void> struct has_keys : std::false_type {};
template <class T> struct has_keys<T, std::void_t<typename T::mapped_type>> : std::true_type {};

// whether the value at the position, which is skipped, is of the kind of a type; of a list its first item is looked at
template <class P> bool fits() {
    using Value = std::remove_cv_t<std::remove_reference_t<P>>;
    char kind = input[position];
    std::size_t start = position, rest;
    bool fine = kind == 'l' || kind == 'n';
    skip();
    rest = position;
    if constexpr (std::is_same_v<Value, bool>) fine = kind == 'b';
    else if constexpr (is_byte<Value> || std::is_convertible_v<Value, std::string_view>) fine = kind == 's';
    else if constexpr (std::is_floating_point_v<Value>) fine = kind == 'i' || kind == 'd';
    else if constexpr (std::is_integral_v<Value>) fine = kind == 'i';
    else if constexpr (has_keys<Value>::value) fine = kind == 'm';
    else if constexpr (has_items<Value>::value) {
        position = start;
        fine = kind == 'l' && (items("a list") == 0 || fits<typename Value::value_type>());
        position = rest;
    }
    return fine;
}

template <class... P> bool fit() {
    std::size_t start = position;
    bool all = (fits<P>() && ...);
    position = start;
    return all;
}

// a function without a result is asked what became of its first argument that can change
template <class F, class Self> std::string result(F call, std::vector<Argument<Self>>& args, bool may_change) {
    std::string out;
    if constexpr (std::is_void_v<decltype(call(args))>) {
        call(args);
        if (may_change)
            for (auto& each : args)
                if (each.changed) return each.changed();
        return "null";
    } else {
        decltype(auto) value = call(args);
        write(out, value);
        return out;
    }
}

void make_call(const std::string& name, std::size_t count, std::string& out);
void make_object(const std::string& name, std::size_t count, std::string& out);

std::pair<std::string, std::size_t> named() {
    std::string_view head = line();
    std::size_t space = head.find(' ');
    return {std::string(head.substr(0, space)), number(head.substr(space + 1))};
}

[[noreturn]] void absent(const std::string& name, std::size_t count) {
    stop('?', "there is no " + name + " for " + std::to_string(count) + " arguments");
}

int main() {
    char block[1 << 16];
    for (ssize_t count; (count = ::read(0, block, sizeof block)) > 0;) input.append(block, count);
    token = line();
    for (std::size_t left = number(line()); left > 0; left--) {
        std::string out = "\n" + token + "=";
        std::string_view head = line();
        bool object = head[0] == 'c' && head[1] == 'l';
        in_place = head[0] == 'c';
        position -= head.size() - head.find(' ');
        auto [name, count] = named();
        if (object) make_object(name, count, out);
        else make_call(name, count, out);
        put(out + "\n");
    }
    return 0;
}

}  // namespace proctor_driver
