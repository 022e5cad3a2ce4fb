// Makes the calls that stdin asks for, and writes each result as a line of JSON. The submission is above.
#[allow(dead_code, unused, clippy::all)]
mod proctor_driver {
    use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
    use std::io::{Read, Write};

    pub struct Reader {
        input: Vec<u8>,
        position: usize,
        token: String,
        in_place: bool,
        changed: Vec<Box<dyn Fn() -> String>>,
    }

    impl Reader {
        fn line(&mut self) -> String {
            let rest = &self.input[self.position..];
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let found = String::from_utf8_lossy(&rest[..end]).into_owned();
            self.position += end + 1;
            found
        }

        fn peek(&self) -> u8 {
            self.input[self.position]
        }

        fn say(&self, text: &str) {
            let mut out = std::io::stdout();
            out.write_all(format!("\n{}{}\n", self.token, text).as_bytes()).unwrap();
            out.flush().unwrap();
        }

        fn stop(&self, kind: char, why: &str) -> ! {
            self.say(&format!("{}{}", kind, why));
            std::process::exit(1)
        }

        fn misfit(&self, head: &str, wanted: &str) -> ! {
            let kind = match &head[..1] {
                "n" => "null",
                "l" => "a list",
                "s" => "a string",
                "m" => "a dict",
                _ => &head[1..],
            };
            self.stop('?', &format!("an argument is {}, where the function takes {}", kind, wanted))
        }

        fn count(&self, head: &str, kind: &str, wanted: &str) -> usize {
            if &head[..1] != kind {
                self.misfit(head, wanted)
            }
            head[1..].parse().unwrap()
        }

        fn text(&mut self, wanted: &str) -> String {
            let head = self.line();
            let length = self.count(&head, "s", wanted);
            let found = String::from_utf8_lossy(&self.input[self.position..self.position + length]).into_owned();
            self.position += length + 1;
            found
        }

        fn skip(&mut self) {
            let head = self.line();
            match &head[..1] {
                "s" => self.position += self.count(&head, "s", "") + 1,
                "l" => (0..self.count(&head, "l", "")).for_each(|_| self.skip()),
                "m" => (0..2 * self.count(&head, "m", "")).for_each(|_| self.skip()),
                _ => (),
            }
        }

        pub fn named(&mut self) -> (String, usize) {
            let head = self.line();
            let (name, count) = head.split_once(' ').unwrap();
            (name.to_string(), count.parse().unwrap())
        }

        pub fn absent(&self, name: &str, count: usize) -> ! {
            self.stop('?', &format!("there is no {} for {} arguments", name, count))
        }

        // a function without a result is asked what became of its first argument that can change
        pub fn result<T: Encode>(&mut self, value: T, in_place: bool) -> String {
            let changed = std::mem::take(&mut self.changed);
            if in_place && std::any::type_name::<T>() == "()" && !changed.is_empty() {
                return changed[0]();
            }
            let mut out = String::new();
            value.encode(&mut out);
            out
        }
    }

    pub trait Decode: Sized {
        fn decode(from: &mut Reader) -> Self;
        fn decode_option(from: &mut Reader) -> Option<Self> {
            if from.peek() == b'n' {
                from.line();
                return None;
            }
            Some(Self::decode(from))
        }
        fn decode_key(from: &mut Reader) -> Self {
            Self::decode(from)
        }
    }

    pub trait Encode {
        fn encode(&self, out: &mut String);
        fn encode_none(out: &mut String) {
            out.push_str("null")
        }
    }

    pub fn next<T: Decode>(from: &mut Reader) -> T {
        T::decode(from)
    }

    macro_rules! integers {
        ($($type:ty)*) => {$(
            impl Decode for $type {
                fn decode(from: &mut Reader) -> Self {
                    let head = from.line();
                    if &head[..1] == "d" {
                        let real: f64 = head[1..].parse().unwrap_or(0.5);
                        if real == real.trunc() && real.abs() < 9e15 && (real as $type) as f64 == real {
                            return real as $type;
                        }
                    }
                    if &head[..1] != "i" {
                        from.misfit(&head, "an integer")
                    }
                    head[1..].parse().unwrap_or_else(|_| from.misfit(&head, stringify!($type)))
                }
                fn decode_key(from: &mut Reader) -> Self {
                    let text = from.text("a key");
                    text.parse().unwrap_or_else(|_| from.stop('?', "a key of an argument is not an integer"))
                }
            }
            impl Encode for $type {
                fn encode(&self, out: &mut String) {
                    out.push_str(&self.to_string())
                }
            }
        )*};
    }
    integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

    macro_rules! reals {
        ($($type:ty)*) => {$(
            impl Decode for $type {
                fn decode(from: &mut Reader) -> Self {
                    let head = from.line();
                    match &head[1..] {
                        _ if !"id".contains(&head[..1]) => from.misfit(&head, "a number"),
                        "Infinity" => <$type>::INFINITY,
                        "-Infinity" => <$type>::NEG_INFINITY,
                        text => text.parse().unwrap(),
                    }
                }
            }
            impl Encode for $type {
                fn encode(&self, out: &mut String) {
                    out.push_str(&format!("{:?}", self).replace("inf", "Infinity"))
                }
            }
        )*};
    }
    reals!(f32 f64);

    impl Decode for bool {
        fn decode(from: &mut Reader) -> Self {
            let head = from.line();
            if &head[..1] != "b" {
                from.misfit(&head, "a bool")
            }
            head == "b1"
        }
    }
    impl Encode for bool {
        fn encode(&self, out: &mut String) {
            out.push_str(if *self { "true" } else { "false" })
        }
    }

    impl Decode for char {
        fn decode(from: &mut Reader) -> Self {
            let text = from.text("a char");
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (Some(char), None) => char,
                _ => from.stop('?', "an argument is a string of more or less than one char, where the function takes a char"),
            }
        }
    }
    impl Encode for char {
        fn encode(&self, out: &mut String) {
            self.to_string().as_str().encode(out)
        }
    }

    impl Decode for String {
        fn decode(from: &mut Reader) -> Self {
            from.text("a String")
        }
    }
    impl Encode for String {
        fn encode(&self, out: &mut String) {
            self.as_str().encode(out)
        }
    }
    impl Decode for &'static str {
        fn decode(from: &mut Reader) -> Self {
            Box::leak(from.text("a str").into_boxed_str())
        }
    }
    impl Encode for str {
        fn encode(&self, out: &mut String) {
            out.push('"');
            for char in self.chars() {
                match char {
                    '"' | '\\' => {
                        out.push('\\');
                        out.push(char)
                    }
                    char if (char as u32) < 32 => out.push_str(&format!("\\u{:04x}", char as u32)),
                    char => out.push(char),
                }
            }
            out.push('"');
        }
    }

    impl Encode for () {
        fn encode(&self, out: &mut String) {
            out.push_str("null")
        }
    }

    fn all<'a, T: Encode + 'a>(values: impl Iterator<Item = &'a T>, out: &mut String) {
        out.push('[');
        for (index, each) in values.enumerate() {
            if index > 0 {
                out.push(',')
            }
            each.encode(out)
        }
        out.push(']');
    }

    macro_rules! lists {
        ($($type:ty, $out:ident $(, $bound:path)*;)*) => {$(
            impl<T: Decode $(+ $bound)*> Decode for $type {
                fn decode(from: &mut Reader) -> Self {
                    let head = from.line();
                    (0..from.count(&head, "l", "a list")).map(|_| T::decode(from)).collect()
                }
            }
            impl<T: Encode> Encode for $type {
                fn encode(&self, out: &mut String) {
                    $out(self.iter(), out)
                }
            }
        )*};
    }
    fn unordered<'a, T: Encode + 'a>(values: impl Iterator<Item = &'a T>, out: &mut String) {
        out.push_str("{\"__set__\":");
        all(values, out);
        out.push('}')
    }
    lists! {
        Vec<T>, all;
        VecDeque<T>, all;
        BTreeSet<T>, all, Ord;
        HashSet<T>, unordered, Eq, std::hash::Hash;
    }

    macro_rules! tables {
        ($($type:ident $(, $bound:path)*;)*) => {$(
            impl<K: Decode $(+ $bound)*, V: Decode> Decode for $type<K, V> {
                fn decode(from: &mut Reader) -> Self {
                    let head = from.line();
                    (0..from.count(&head, "m", "a dict")).map(|_| (K::decode_key(from), V::decode(from))).collect()
                }
            }
            impl<K: Encode, V: Encode> Encode for $type<K, V> {
                fn encode(&self, out: &mut String) {
                    out.push('{');
                    for (index, (name, value)) in self.iter().enumerate() {
                        if index > 0 {
                            out.push(',')
                        }
                        let mut key = String::new();
                        name.encode(&mut key);
                        if key.starts_with('"') {
                            out.push_str(&key)
                        } else {
                            key.encode(out)
                        }
                        out.push(':');
                        value.encode(out)
                    }
                    out.push('}')
                }
            }
        )*};
    }
    tables! {
        BTreeMap, Ord;
        HashMap, Eq, std::hash::Hash;
    }

    impl<T: Encode, const N: usize> Encode for [T; N] {
        fn encode(&self, out: &mut String) {
            all(self.iter(), out)
        }
    }
    impl<T: Decode, const N: usize> Decode for [T; N] {
        fn decode(from: &mut Reader) -> Self {
            match Vec::decode(from).try_into() {
                Ok(found) => found,
                Err(_) => from.stop('?', "an argument is a list of another length than the function takes"),
            }
        }
    }
    impl<T: Encode> Encode for [T] {
        fn encode(&self, out: &mut String) {
            all(self.iter(), out)
        }
    }

    impl<T: Decode> Decode for Option<T> {
        fn decode(from: &mut Reader) -> Self {
            T::decode_option(from)
        }
    }
    impl<T: Encode> Encode for Option<T> {
        fn encode(&self, out: &mut String) {
            match self {
                Some(value) => value.encode(out),
                None => T::encode_none(out),
            }
        }
    }

    impl<T: Encode + ?Sized> Encode for &T {
        fn encode(&self, out: &mut String) {
            (**self).encode(out)
        }
    }
    impl<T: Encode + ?Sized> Encode for &mut T {
        fn encode(&self, out: &mut String) {
            (**self).encode(out)
        }
    }
    impl<T: Decode> Decode for &'static T {
        fn decode(from: &mut Reader) -> Self {
            Box::leak(Box::new(T::decode(from)))
        }
    }
    impl<T: Decode> Decode for &'static [T] {
        fn decode(from: &mut Reader) -> Self {
            Vec::leak(Vec::decode(from))
        }
    }
    impl<T: Decode + Encode> Decode for &'static mut T {
        fn decode(from: &mut Reader) -> Self {
            let place: *mut T = Box::into_raw(Box::new(T::decode(from)));
            // read after the call has returned, when the function's reference is gone
            from.changed.push(Box::new(move || text_of(unsafe { &*place })));
            unsafe { &mut *place }
        }
    }
    impl<T: Decode + Encode> Decode for &'static mut [T] {
        fn decode(from: &mut Reader) -> Self {
            let place: *mut Vec<T> = Box::into_raw(Box::new(Vec::decode(from)));
            from.changed.push(Box::new(move || text_of(unsafe { &*place })));
            unsafe { (*place).as_mut_slice() }
        }
    }

    fn text_of<T: Encode + ?Sized>(value: &T) -> String {
        let mut out = String::new();
        value.encode(&mut out);
        out
    }

    macro_rules! tuples {
        ($($count:literal: $($name:ident $index:tt)*;)*) => {$(
            impl<$($name: Decode),*> Decode for ($($name,)*) {
                fn decode(from: &mut Reader) -> Self {
                    let head = from.line();
                    if from.count(&head, "l", "a tuple") != $count {
                        from.misfit(&head, "a tuple of another length")
                    }
                    ($($name::decode(from),)*)
                }
            }
            impl<$($name: Encode),*> Encode for ($($name,)*) {
                fn encode(&self, out: &mut String) {
                    let parts = vec![$(text_of(&self.$index)),*];
                    out.push_str(&format!("[{}]", parts.join(",")))
                }
            }
        )*};
    }
    tuples! {
        1: A 0;
        2: A 0 B 1;
        3: A 0 B 1 C 2;
        4: A 0 B 1 C 2 D 3;
        5: A 0 B 1 C 2 D 3 E 4;
    }
//- ListNode

    impl Decode for Box<super::ListNode> {
        fn decode(from: &mut Reader) -> Self {
            Self::decode_option(from).unwrap_or_else(|| from.stop('?', "an argument is an empty list, where the function takes a node"))
        }
        fn decode_option(from: &mut Reader) -> Option<Self> {
            if from.peek() == b'n' {
                from.line();
                return None;
            }
            let mut head = None;
            for val in Vec::decode(from).into_iter().rev() {
                let mut node = super::ListNode::new(val);
                node.next = head;
                head = Some(Box::new(node));
            }
            head
        }
    }
    impl Encode for Box<super::ListNode> {
        fn encode(&self, out: &mut String) {
            let mut values = vec![];
            let mut node = Some(self);
            while let Some(each) = node {
                values.push(&each.val);
                node = each.next.as_ref();
            }
            values.encode(out)
        }
        fn encode_none(out: &mut String) {
            out.push_str("[]")
        }
    }
//- TreeNode

    type Tree = std::rc::Rc<std::cell::RefCell<super::TreeNode>>;
    impl Decode for Tree {
        fn decode(from: &mut Reader) -> Self {
            Self::decode_option(from).unwrap_or_else(|| from.stop('?', "an argument is an empty list, where the function takes a node"))
        }
        fn decode_option(from: &mut Reader) -> Option<Self> {
            if from.peek() == b'n' {
                from.line();
                return None;
            }
            let mut values = Vec::decode(from).into_iter().map(|val: Option<_>| {
                val.map(|val| std::rc::Rc::new(std::cell::RefCell::new(super::TreeNode::new(val))))
            });
            let root = values.next()??;
            let mut parents = VecDeque::from(vec![root.clone()]);
            while let Some(parent) = parents.pop_front() {
                let (left, right) = (values.next().flatten(), values.next().flatten());
                parents.extend(left.iter().chain(right.iter()).cloned());
                parent.borrow_mut().left = left;
                parent.borrow_mut().right = right;
            }
            Some(root)
        }
    }
    impl Encode for Tree {
        fn encode(&self, out: &mut String) {
            let mut values = vec![];
            let mut seen = HashSet::new();
            let mut waiting = VecDeque::from(vec![Some(self.clone())]);
            while let Some(node) = waiting.pop_front() {
                values.push(node.as_ref().map(|node| text_of(&node.borrow().val)));
                if let Some(node) = node {
                    assert!(seen.insert(std::rc::Rc::as_ptr(&node)), "the function returned a tree in which a node is reached twice");
                    waiting.push_back(node.borrow().left.clone());
                    waiting.push_back(node.borrow().right.clone());
                }
            }
            while let Some(None) = values.last() {
                values.pop();
            }
            let texts: Vec<String> = values.into_iter().map(|text| text.unwrap_or("null".to_string())).collect();
            out.push_str(&format!("[{}]", texts.join(",")))
        }
        fn encode_none(out: &mut String) {
            out.push_str("[]")
        }
    }
//- main

    pub fn main() {
        let mut from = Reader { input: vec![], position: 0, token: String::new(), in_place: true, changed: vec![] };
        std::io::stdin().read_to_end(&mut from.input).unwrap();
        from.token = from.line();
        for _ in 0..from.line().parse().unwrap() {
            let head = from.line();
            let parts: Vec<&str> = head.split(' ').collect();
            let count = parts[2].parse().unwrap();
            let make = if parts[0] == "class" { make_object } else { make_call };
            from.in_place = parts[0] == "call";
            let found = make(parts[1], count, &mut from);
            from.say(&format!("={}", found));
        }
    }
