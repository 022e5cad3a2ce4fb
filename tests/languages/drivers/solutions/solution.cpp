#define read own_read
#define items own_items
struct ListNode { int val; ListNode* next; };  // without a constructor
class Solution {
public:
    int add(int a, int b) { cout << "adding\n="; return a + b; }
    long long big(long long x) { return x; }
    bool negated(bool x) { return !x; }
    double half(double x) { return x / 2; }
    string joined(string a, const string& b, char c) { return a + b + c; }
    char first(const string& text) { return text[0]; }
    vector<string> words(vector<string>& all) { sort(all.begin(), all.end()); return all; }
    vector<vector<int>> table(vector<vector<int>>& rows) { return rows; }
    ListNode* reversed(ListNode* head) {
        ListNode* before = nullptr;
        while (head) { auto next = head->next; head->next = before; before = head; head = next; }
        return before;
    }
    vector<ListNode*> lists(vector<ListNode*>& all) { return all; }
    TreeNode* mirrored(TreeNode* root) {
        if (!root) return root;
        swap(root->left, root->right);
        mirrored(root->left);
        mirrored(root->right);
        return root;
    }
    void turn(vector<vector<char>>& board) { reverse(board.begin(), board.end()); }
    long long total(const vector<int>& values) { return accumulate(values.begin(), values.end(), 0LL); }
    vector<int> same(vector<int> values) { return values; }
    int fail(int x) { throw runtime_error("failed on purpose"); }
private:
    int add(int a) { return a; }
};
class Counter {
    int count;
public:
    Counter(int start) : count(start) {}
    int get() { return count; }
    void addAll(const vector<int>& values) { for (int each : values) count += each; }
};
int main() { return 1; }
