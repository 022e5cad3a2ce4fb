func add(a int, b int) int { fmt.Print("adding\n="); return a + b }
func big(x int64) int64 { return x }
func negated(x bool) bool { return !x }
func half(x float64) float64 { return x / 2 }
func joined(a string, b string, c byte) string { return a + b + string(c) }
func first(text string) byte { return text[0] }
func words(all []string) []string { sort.Strings(all); return all }
func table(rows [][]int) [][]int { return rows }
func reversed(head *ListNode) *ListNode {
	var before *ListNode
	for head != nil {
		head.Next, before, head = before, head, head.Next
	}
	return before
}
func lists(all []*ListNode) []*ListNode { return all }
func mirrored(root *TreeNode) *TreeNode {
	if root == nil {
		return root
	}
	root.Left, root.Right = mirrored(root.Right), mirrored(root.Left)
	return root
}
func turn(board [][]byte) {
	for i, j := 0, len(board)-1; i < j; i, j = i+1, j-1 {
		board[i], board[j] = board[j], board[i]
	}
}
func total(values []int) int {
	found := 0
	for _, each := range values {
		found += each
	}
	return found
}
func same(values []int) []int { return values }
func fail(x int) int { panic("failed on purpose") }

type Counter struct{ count int }

func Constructor(start int) Counter { return Counter{start} }
func (c *Counter) Get() int         { return c.count }
func (c *Counter) AddAll(values []int) {
	for _, each := range values {
		c.count += each
	}
}
func main() {}
