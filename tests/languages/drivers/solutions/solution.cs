public class Solution {
    public int Add(int a, int b) { Console.Write("adding\n="); return a + b; }
    public long Big(long x) { return x; }
    public bool Negated(bool x) { return !x; }
    public double Half(double x) { return x / 2; }
    public string Joined(string a, string b, char c) { return a + b + c; }
    public char First(string text) { return text[0]; }
    public IList<string> Words(IList<string> all) { return all.OrderBy(each => each, StringComparer.Ordinal).ToList(); }
    public IList<IList<int>> Table(int[][] rows) { return rows.Select(row => (IList<int>)row.ToList()).ToList(); }
    public ListNode Reversed(ListNode head) {
        ListNode before = null;
        while (head != null) { ListNode next = head.next; head.next = before; before = head; head = next; }
        return before;
    }
    public ListNode[] Lists(ListNode[] all) { return all; }
    public TreeNode Mirrored(TreeNode root) {
        if (root == null) return root;
        TreeNode left = root.left;
        root.left = Mirrored(root.right);
        root.right = Mirrored(left);
        return root;
    }
    public void Turn(char[][] board) { Array.Reverse(board); }
    public long Total(int[] values) { return values.Sum(each => (long)each); }
    public int[] Same(int[] values) { return values; }
    public int Fail(int x) { throw new InvalidOperationException("failed on purpose"); }
    private int Add(int a) { return a; }
}
public class Counter {
    private int count;
    public Counter(int start) { count = start; }
    public int Get() { return count; }
    public void AddAll(int[] values) { foreach (int each in values) count += each; }
}
class Program { static void Main() {} }
