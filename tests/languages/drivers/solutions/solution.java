package solution;

public class Solution {
    public int add(int a, int b) { System.out.print("adding\n="); return a + b; }
    public long big(long x) { return x; }
    public boolean negated(boolean x) { return !x; }
    public double half(double x) { return x / 2; }
    public String joined(String a, String b, char c) { return a + b + c; }
    public char first(String text) { return text.charAt(0); }
    public List<String> words(List<String> all) { Collections.sort(all); return all; }
    public List<List<Integer>> table(int[][] rows) {
        return Arrays.stream(rows).map(row -> Arrays.stream(row).boxed().collect(Collectors.toList())).collect(Collectors.toList());
    }
    public ListNode reversed(ListNode head) {
        ListNode before = null;
        while (head != null) { ListNode next = head.next; head.next = before; before = head; head = next; }
        return before;
    }
    public ListNode[] lists(ListNode[] all) { return all; }
    public TreeNode mirrored(TreeNode root) {
        if (root == null) return root;
        TreeNode left = root.left;
        root.left = root.right;
        root.right = left;
        mirrored(root.left);
        mirrored(root.right);
        return root;
    }
    public void turn(char[][] board) { Collections.reverse(Arrays.asList(board)); }
    public long total(int[] values) { long found = 0; for (int each : values) found += each; return found; }
    public int[] same(int[] values) { return values; }
    public int fail(int x) { throw new IllegalStateException("failed on purpose"); }
    private int add(int a) { return a; }
}

class Counter {
    private int count;
    public Counter(int start) { count = start; }
    public int get() { return count; }
    public void addAll(List<Integer> values) { for (int each : values) count += each; }
}
