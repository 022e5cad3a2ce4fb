// Enough of two validators' headers, both called validate.h, to run the judges of labelled problems; written for that.
// The first part has the names of Kattis' header, the second those of a header for validators with several passes.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>

inline std::ifstream judge_in, judge_ans;
inline std::istream& author_out = std::cin;
inline std::string feedback_folder;

using feedback_function = void (*)(const char*, ...);

inline void write_message(const char* format, va_list words) {
    if (FILE* file = std::fopen((feedback_folder + "judgemessage.txt").c_str(), "a")) {
        std::vfprintf(file, format, words);
        std::fclose(file);
    }
}
inline void judge_message(const char* format, ...) {
    va_list words;
    va_start(words, format);
    write_message(format, words);
    va_end(words);
}
[[noreturn]] inline void end_judging(int status, const char* format, va_list words) {
    write_message(format, words);
    std::exit(status);
}
[[noreturn]] inline void accept() { std::exit(42); }
[[noreturn]] inline void wrong_answer(const char* format, ...) {
    va_list words;
    va_start(words, format);
    end_judging(43, format, words);
}
[[noreturn]] inline void judge_error(const char* format, ...) {
    va_list words;
    va_start(words, format);
    end_judging(1, format, words);
}
inline void init_io(int count, char** arguments) {
    if (count < 4) judge_error("called with %d arguments instead of input, answer and feedback folder", count - 1);
    feedback_folder = arguments[3];
    judge_in.open(arguments[1]);
    judge_ans.open(arguments[2]);
    if (!judge_in || !judge_ans) judge_error("the input or the answer cannot be opened");
}

// --- validators that read words by regular expressions, and leave an input and a state for the next pass

using Integer = long long;
constexpr auto REGEX_OPTIONS = std::regex::nosubs | std::regex::optimize;

struct Ending {
    int status;
};
inline constexpr Ending AC{42}, WA{43}, FAIL{1};

struct Messages {
    template <class T> Messages& operator<<(const T& words) {
        std::ofstream(feedback_folder + "judgemessage.txt", std::ios::app) << words;
        return *this;
    }
    [[noreturn]] void operator<<(const Ending& ending) { std::exit(ending.status); }
};

namespace OutputValidator {
inline bool caseSensitive = false;
inline Messages juryOut, juryErr;

// words of a stream; what is not as asked for is the failure of who wrote it
class Words {
public:
    Words(std::istream& stream, int status) : stream_(stream), status_(status) {}
    std::string string() {
        std::string found;
        if (!(stream_ >> found)) fail("a word is missing");
        return found;
    }
    std::string string(const std::regex& pattern) {
        std::string found = string();
        if (!std::regex_match(found, pattern)) fail("a word has other characters");
        return found;
    }
    std::string string(const std::regex& pattern, std::size_t least, std::size_t end) {
        std::string found = string(pattern);
        if (found.size() < least || found.size() >= end) fail("a word has another length");
        return found;
    }
    void expectString(const std::string& wanted) {
        if (string() != wanted) fail("a word is not the expected one");
    }
    Integer integer() {
        Integer found;
        if (!(stream_ >> found)) fail("an integer is missing");
        return found;
    }
    void newline() {}  // white space counts only with a flag that is not given here
    void eof() {
        std::string more;
        if (stream_ >> more) fail("there is more output");
    }

private:
    [[noreturn]] void fail(const char* why) {
        juryErr << why;
        std::exit(status_);
    }
    std::istream& stream_;
    int status_;
};

inline Words testIn(judge_in, 1), teamAns(std::cin, 43);
inline void init(int count, char** arguments) {
    init_io(count, arguments);
    for (int at = 4; at < count; at++) caseSensitive |= std::string(arguments[at]) == "case_sensitive";
}
}  // namespace OutputValidator

namespace Multipass {
inline int pass = 0;
inline std::ifstream previous;
inline std::ostringstream nextpass, nextstate;
inline OutputValidator::Words prevstate(previous, 1);
inline std::string state(int of) { return feedback_folder + "state." + std::to_string(of); }
inline void init() {
    while (std::ifstream(state(pass)).good()) pass++;
    if (pass > 0) previous.open(state(pass - 1));
}
[[noreturn]] inline void NEXT() {
    std::ofstream(feedback_folder + "nextpass.in") << nextpass.str();
    std::ofstream(state(pass)) << nextstate.str();
    std::exit(42);
}
}  // namespace Multipass
