use std::cell::RefCell;
use std::rc::Rc;

impl Solution {
    pub fn add(a: i32, b: i32) -> i32 { print!("adding\n="); a + b }
    pub fn big(x: i64) -> i64 { x }
    pub fn negated(x: bool) -> bool { !x }
    pub fn half(x: f64) -> f64 { x / 2.0 }
    pub fn joined(a: String, b: &str, c: char) -> String { format!("{}{}{}", a, b, c) }
    pub fn first(text: String) -> char { text.chars().next().unwrap() }
    pub fn words(mut all: Vec<String>) -> Vec<String> { all.sort(); all }
    pub fn table(rows: Vec<Vec<i32>>) -> Vec<Vec<i32>> { rows }
    pub fn reversed(head: Option<Box<ListNode>>) -> Option<Box<ListNode>> {
        let (mut head, mut before) = (head, None);
        while let Some(mut node) = head {
            head = node.next.take();
            node.next = before;
            before = Some(node);
        }
        before
    }
    pub fn lists(all: Vec<Option<Box<ListNode>>>) -> Vec<Option<Box<ListNode>>> { all }
    pub fn mirrored(root: Option<Rc<RefCell<TreeNode>>>) -> Option<Rc<RefCell<TreeNode>>> {
        if let Some(node) = &root {
            let (left, right) = (node.borrow().left.clone(), node.borrow().right.clone());
            node.borrow_mut().left = Self::mirrored(right);
            node.borrow_mut().right = Self::mirrored(left);
        }
        root
    }
    pub fn turn(board: &mut Vec<Vec<char>>) { board.reverse() }
    pub fn total(values: &[i32]) -> i64 { values.iter().map(|each| *each as i64).sum() }
    pub fn same(values: Vec<i32>) -> Vec<i32> { values }
    pub fn fail(_x: i32) -> i32 { panic!("failed on purpose") }
}

struct Counter {
    count: i32,
}

impl Counter {
    fn new(start: i32) -> Self { Counter { count: start } }
    fn get(&self) -> i32 { self.count }
    fn add_all(&mut self, values: Vec<i32>) { self.count += values.iter().sum::<i32>() }
}

fn main() {}
