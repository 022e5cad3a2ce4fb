// Makes the calls that stdin asks for, and writes each result as a line of JSON.
package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

type proctorDriver struct {
	input    []byte
	position int
	token    string
}

func (d *proctorDriver) line() string {
	end := bytes.IndexByte(d.input[d.position:], '\n')
	found := string(d.input[d.position : d.position+end])
	d.position += end + 1
	return found
}

func (d *proctorDriver) say(text string) {
	os.Stdout.WriteString("\n" + d.token + text + "\n")
}

func (d *proctorDriver) stop(kind, why string) {
	d.say(kind + why)
	os.Exit(1)
}

func (d *proctorDriver) misfit(head, wanted string) {
	kind := map[byte]string{'n': "null", 'l': "a list", 's': "a string", 'm': "a dict"}[head[0]]
	if kind == "" {
		kind = head[1:]
	}
	d.stop("?", "an argument is "+kind+", where the function takes "+wanted)
}

func (d *proctorDriver) count(head string, kind byte, wanted string) int {
	if head[0] != kind {
		d.misfit(head, wanted)
	}
	count, _ := strconv.Atoi(head[1:])
	return count
}

func (d *proctorDriver) text(head, wanted string) string {
	length := d.count(head, 's', wanted)
	d.position += length + 1
	return string(d.input[d.position-length-1 : d.position-1])
}

func (d *proctorDriver) skip() {
	head := d.line()
	switch head[0] {
	case 's':
		d.text(head, "")
	case 'l', 'm':
		count := d.count(head, head[0], "")
		if head[0] == 'm' {
			count *= 2
		}
		for ; count > 0; count-- {
			d.skip()
		}
	}
}

func proctorIsNode(kind reflect.Type, fields ...string) bool {
	if kind.Kind() != reflect.Ptr || kind.Elem().Kind() != reflect.Struct {
		return false
	}
	for _, name := range fields {
		if _, ok := kind.Elem().FieldByName(name); !ok {
			return false
		}
	}
	return true
}

func (d *proctorDriver) read(to reflect.Value) {
	kind := to.Type()
	if proctorIsNode(kind, "Val", "Next") {
		d.readNodes(to)
		return
	}
	if proctorIsNode(kind, "Val", "Left", "Right") {
		d.readTree(to)
		return
	}
	head := d.line()
	switch kind.Kind() {
	case reflect.Bool:
		if head[0] != 'b' {
			d.misfit(head, "a bool")
		}
		to.SetBool(head == "b1")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if head[0] == 's' { // a rune
			char, size := utf8.DecodeRuneInString(d.text(head, "a rune"))
			if kind.Kind() != reflect.Int32 || size == 0 {
				d.misfit(head, "an integer")
			}
			to.SetInt(int64(char))
			return
		}
		number := d.integer(head)
		if to.OverflowInt(number) {
			d.misfit(head, "an integer of another range")
		}
		to.SetInt(number)
	case reflect.Uint8, reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if head[0] == 's' && kind.Kind() == reflect.Uint8 {
			text := d.text(head, "a byte")
			if len(text) != 1 {
				d.stop("?", "an argument is a string of more or less than one byte, where the function takes a byte")
			}
			to.SetUint(uint64(text[0]))
			return
		}
		number, err := strconv.ParseUint(head[1:], 10, 64)
		if head[0] != 'i' || err != nil || to.OverflowUint(number) {
			d.misfit(head, "an unsigned integer")
		}
		to.SetUint(number)
	case reflect.Float32, reflect.Float64:
		number, err := strconv.ParseFloat(head[1:], 64)
		if head[0] != 'i' && head[0] != 'd' || err != nil && !math.IsInf(number, 0) {
			d.misfit(head, "a number")
		}
		to.SetFloat(number)
	case reflect.String:
		to.SetString(d.text(head, "a string"))
	case reflect.Slice:
		if head == "n" {
			return
		}
		count := d.count(head, 'l', "a list")
		made := reflect.MakeSlice(kind, count, count)
		for index := 0; index < count; index++ {
			d.read(made.Index(index))
		}
		to.Set(made)
	case reflect.Array:
		if d.count(head, 'l', "a list") != kind.Len() {
			d.misfit(head, "a list of another length")
		}
		for index := 0; index < kind.Len(); index++ {
			d.read(to.Index(index))
		}
	case reflect.Map:
		made := reflect.MakeMap(kind)
		for count := d.count(head, 'm', "a dict"); count > 0; count-- {
			key, value := reflect.New(kind.Key()).Elem(), reflect.New(kind.Elem()).Elem()
			d.readKey(key)
			d.read(value)
			made.SetMapIndex(key, value)
		}
		to.Set(made)
	case reflect.Interface:
		if value := d.readAny(head); value != nil {
			to.Set(reflect.ValueOf(value))
		}
	case reflect.Ptr:
		if head == "n" {
			return
		}
		d.position -= len(head) + 1
		made := reflect.New(kind.Elem())
		d.read(made.Elem())
		to.Set(made)
	default:
		d.stop("?", "the driver has no values of the type "+kind.String())
	}
}

func (d *proctorDriver) readKey(to reflect.Value) {
	switch to.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		text := d.text(d.line(), "a key")
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			char, _ := utf8.DecodeRuneInString(text)
			number = int64(char)
		}
		to.SetInt(number)
	default:
		d.read(to)
	}
}

func (d *proctorDriver) integer(head string) int64 {
	if head[0] == 'i' {
		if number, err := strconv.ParseInt(head[1:], 10, 64); err == nil {
			return number
		}
		d.misfit(head, "an integer of another range")
	}
	number, err := strconv.ParseFloat(head[1:], 64)
	if head[0] != 'd' || err != nil || number != math.Trunc(number) || math.Abs(number) > 9e15 {
		d.misfit(head, "an integer")
	}
	return int64(number)
}

func (d *proctorDriver) readAny(head string) interface{} {
	switch head[0] {
	case 'n':
		return nil
	case 'b':
		return head == "b1"
	case 'i':
		return int(d.integer(head))
	case 'd':
		number, _ := strconv.ParseFloat(head[1:], 64)
		return number
	case 's':
		return d.text(head, "a string")
	case 'l':
		found := []interface{}{}
		for count := d.count(head, 'l', ""); count > 0; count-- {
			found = append(found, d.readAny(d.line()))
		}
		return found
	}
	found := map[string]interface{}{}
	for count := d.count(head, 'm', ""); count > 0; count-- {
		key := d.text(d.line(), "a key")
		found[key] = d.readAny(d.line())
	}
	return found
}

func (d *proctorDriver) readNodes(to reflect.Value) {
	head := d.line()
	if head == "n" {
		return
	}
	for count := d.count(head, 'l', "a linked list"); count > 0; count-- {
		node := reflect.New(to.Type().Elem())
		d.read(node.Elem().FieldByName("Val"))
		to.Set(node)
		to = node.Elem().FieldByName("Next")
	}
}

func (d *proctorDriver) readTree(to reflect.Value) {
	head := d.line()
	if head == "n" {
		return
	}
	places := []reflect.Value{to}
	for count := d.count(head, 'l', "a tree"); count > 0; count-- {
		if len(places) == 0 {
			d.skip()
			continue
		}
		place := places[0]
		places = places[1:]
		if d.input[d.position] == 'n' {
			d.line()
			continue
		}
		node := reflect.New(place.Type().Elem())
		d.read(node.Elem().FieldByName("Val"))
		place.Set(node)
		places = append(places, node.Elem().FieldByName("Left"), node.Elem().FieldByName("Right"))
	}
}

func (d *proctorDriver) write(out *strings.Builder, value reflect.Value) {
	if !value.IsValid() {
		out.WriteString("null")
		return
	}
	kind := value.Type()
	if proctorIsNode(kind, "Val", "Next") {
		d.writeNodes(out, value)
		return
	}
	if proctorIsNode(kind, "Val", "Left", "Right") {
		d.writeTree(out, value)
		return
	}
	if failure, ok := value.Interface().(error); ok && !value.IsZero() {
		proctorWriteText(out, failure.Error())
		return
	}
	switch kind.Kind() {
	case reflect.Bool:
		out.WriteString(strconv.FormatBool(value.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		out.WriteString(strconv.FormatInt(value.Int(), 10))
	case reflect.Uint8:
		if value.Uint() < utf8.RuneSelf {
			proctorWriteText(out, string([]byte{byte(value.Uint())}))
		} else {
			out.WriteString(strconv.FormatUint(value.Uint(), 10))
		}
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		out.WriteString(strconv.FormatUint(value.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		number := value.Float()
		if math.IsInf(number, 0) {
			out.WriteString(map[bool]string{true: "Infinity", false: "-Infinity"}[number > 0])
			return
		}
		out.WriteString(strconv.FormatFloat(number, 'g', -1, kind.Bits()))
	case reflect.String:
		proctorWriteText(out, value.String())
	case reflect.Slice, reflect.Array:
		out.WriteByte('[')
		for index := 0; index < value.Len(); index++ {
			if index > 0 {
				out.WriteByte(',')
			}
			d.write(out, value.Index(index))
		}
		out.WriteByte(']')
	case reflect.Map:
		d.writeMap(out, value)
	case reflect.Interface, reflect.Ptr:
		if value.IsNil() {
			out.WriteString("null")
			return
		}
		d.write(out, value.Elem())
	default:
		d.stop("?", "the driver cannot write a result of the type "+kind.String())
	}
}

func (d *proctorDriver) writeMap(out *strings.Builder, value reflect.Value) {
	entries := []string{}
	for _, name := range value.MapKeys() {
		var key, entry strings.Builder
		d.write(&key, name)
		if strings.HasPrefix(key.String(), "\"") {
			entry.WriteString(key.String())
		} else {
			proctorWriteText(&entry, key.String())
		}
		entry.WriteByte(':')
		d.write(&entry, value.MapIndex(name))
		entries = append(entries, entry.String())
	}
	sort.Strings(entries)
	out.WriteString("{" + strings.Join(entries, ",") + "}")
}

func proctorWriteText(out *strings.Builder, text string) {
	out.WriteByte('"')
	for index := 0; index < len(text); index++ {
		switch char := text[index]; {
		case char == '"' || char == '\\':
			out.WriteByte('\\')
			out.WriteByte(char)
		case char < 32:
			fmt.Fprintf(out, "\\u%04x", char)
		default:
			out.WriteByte(char)
		}
	}
	out.WriteByte('"')
}

func (d *proctorDriver) writeNodes(out *strings.Builder, node reflect.Value) {
	seen := map[uintptr]bool{}
	out.WriteByte('[')
	for first := true; !node.IsNil(); node, first = node.Elem().FieldByName("Next"), false {
		if seen[node.Pointer()] {
			panic("the function returned a linked list with a cycle")
		}
		seen[node.Pointer()] = true
		if !first {
			out.WriteByte(',')
		}
		d.write(out, node.Elem().FieldByName("Val"))
	}
	out.WriteByte(']')
}

func (d *proctorDriver) writeTree(out *strings.Builder, root reflect.Value) {
	seen := map[uintptr]bool{}
	found := []string{}
	whole := 0 // without the nulls at the end
	waiting := []reflect.Value{root}
	for ; len(waiting) > 0; waiting = waiting[1:] {
		node := waiting[0]
		if node.IsNil() {
			found = append(found, "null")
			continue
		}
		if seen[node.Pointer()] {
			panic("the function returned a tree in which a node is reached twice")
		}
		seen[node.Pointer()] = true
		var text strings.Builder
		d.write(&text, node.Elem().FieldByName("Val"))
		found = append(found, text.String())
		whole = len(found)
		waiting = append(waiting, node.Elem().FieldByName("Left"), node.Elem().FieldByName("Right"))
	}
	out.WriteString("[" + strings.Join(found[:whole], ",") + "]")
}

func (d *proctorDriver) invoke(function reflect.Value, name string, count int, inPlace bool) string {
	isFunction := function.IsValid() && function.Kind() == reflect.Func
	spreads := isFunction && function.Type().IsVariadic() && !inPlace // as test programs call it
	if !isFunction || (function.Type().NumIn() != count && !(spreads && count >= function.Type().NumIn()-1)) {
		d.stop("?", fmt.Sprintf("there is no %s for %d arguments", name, count))
	}
	kind := function.Type()
	given := make([]reflect.Value, count)
	for index := range given {
		if spreads && index >= kind.NumIn()-1 {
			given[index] = reflect.New(kind.In(kind.NumIn() - 1).Elem()).Elem()
		} else {
			given[index] = reflect.New(kind.In(index)).Elem()
		}
		d.read(given[index])
	}
	var results []reflect.Value
	if kind.IsVariadic() && !spreads {
		results = function.CallSlice(given)
	} else {
		results = function.Call(given)
	}
	var out strings.Builder
	switch {
	case len(results) == 1:
		d.write(&out, results[0])
	case len(results) > 1:
		for index, result := range results {
			out.WriteString(map[bool]string{true: "[", false: ","}[index == 0])
			d.write(&out, result)
		}
		out.WriteByte(']')
	default:
		for _, each := range given { // what became of the first argument that can change
			if kind := each.Kind(); inPlace && (kind == reflect.Slice || kind == reflect.Ptr || kind == reflect.Map) {
				d.write(&out, each)
				return out.String()
			}
		}
		return "null"
	}
	return out.String()
}

func (d *proctorDriver) object(name string, left int) string {
	head := strings.Split(d.line(), " ")
	count, _ := strconv.Atoi(head[1])
	function := reflect.ValueOf(proctorFunctions[name])
	if !function.IsValid() || function.Type().NumIn() != count {
		d.stop("?", fmt.Sprintf("there is no constructor of %s for %d arguments", name, count))
	}
	given := make([]reflect.Value, count)
	for index := range given {
		given[index] = reflect.New(function.Type().In(index)).Elem()
		d.read(given[index])
	}
	made := function.Call(given)[0]
	self := made
	if made.Kind() != reflect.Ptr {
		self = reflect.New(made.Type())
		self.Elem().Set(made)
	}
	out := "[null"
	for left--; left > 0; left-- {
		head := strings.Split(d.line(), " ")
		count, _ := strconv.Atoi(head[1])
		method := self.MethodByName(head[0])
		if !method.IsValid() {
			method = self.MethodByName(strings.ToUpper(head[0][:1]) + head[0][1:])
		}
		out += "," + d.invoke(method, head[0], count, false)
	}
	return out + "]"
}

func main() {
	d := &proctorDriver{}
	d.input, _ = io.ReadAll(os.Stdin)
	d.token = d.line()
	left, _ := strconv.Atoi(d.line())
	for ; left > 0; left-- {
		head := strings.Split(d.line(), " ")
		count, _ := strconv.Atoi(head[2])
		if head[0] == "class" {
			d.say("=" + d.object(head[1], count))
		} else {
			d.say("=" + d.invoke(reflect.ValueOf(proctorFunctions[head[1]]), head[1], count, head[0] == "call"))
		}
	}
}
