// Records which assertions of a test can fail. Each probed test file has these declarations under names of its own.
package support

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// A comparison in a loop tells no more after so many rounds, and a value no more at this depth.
const probeMostRounds, probeDeepest = 50, 5

type probeState interface {
	Name() string
	Failed() bool
}

type probeRecord struct{ position, test, outcome string }

// An error that no error of the product is: many are told apart by their type alone.
func (record probeRecord) Error() string { return record.position }

var (
	probeLock    sync.Mutex
	probeWritten = map[probeRecord]bool{}
	probeRounds  = map[probeRecord]int{}
	probeEnded   = map[string]bool{}
	probeStopped = map[string]bool{}
	probeLast    = map[string]string{}
	probeWentOn  = map[string]bool{}
	probeBranch  = map[string]bool{}
	probeRecords = probePlace()
	probeFailing = strings.Split("SOFT", "\n")
	probePackage = strings.TrimSuffix(reflect.TypeOf(probeRecord{}).PkgPath(), "SUFFIX")
)

// The path of the records, before a test may change the working folder.
func probePlace() string {
	_, own, _, _ := runtime.Caller(0)
	folder := filepath.Dir(own)
	if !filepath.IsAbs(own) {
		folder, _ = os.Getwd()
	}
	return filepath.Join(folder, "RECORDS")
}

// The test that runs; a helper may get a state that is no test.
func probeTestOf(t interface{}) probeState {
	state, isState := t.(probeState)
	value := reflect.ValueOf(t)
	if !isState || value.Kind() == reflect.Ptr && value.IsNil() || state.Name() == "" {
		return nil
	}
	return state
}

func probeQuote(text string) string {
	quoted := []rune{'"'}
	for _, letter := range text {
		if letter == '"' || letter == '\\' {
			quoted = append(quoted, '\\')
		}
		if letter >= ' ' {
			quoted = append(quoted, letter)
		}
	}
	return string(append(quoted, '"'))
}

// Without a record nothing is known about the assertion. What runs after its test tells nothing about the test.
func probeWrite(position, test, outcome string) {
	record := probeRecord{position, test, outcome}
	probeLock.Lock()
	defer probeLock.Unlock()
	if probeWritten[record] || probeEnded[test] {
		return
	}
	probeWritten[record] = true
	file, err := os.OpenFile(probeRecords, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0600)
	if err != nil {
		return
	}
	defer file.Close()
	name := probeQuote(probePackage + "::" + test)
	_, _ = file.WriteString("[" + probeQuote(position) + ", " + name + ", " + probeQuote(outcome) + "]\n")
}

// Whether a test failed before: it goes on after a condition that fails it.
func probeIsSoft(test string) bool {
	for _, name := range probeFailing {
		if name == probePackage+"::"+test {
			return true
		}
	}
	return false
}

// Records that a test came to an assertion that can fail. Only in a test that failed before it matters that right work
// may leave the assertion out.
func probeReach(t interface{}, position, outcome string) {
	state := probeTestOf(t)
	if state == nil {
		return
	}
	probeLock.Lock()
	isInBranch := outcome == "branched" || probeBranch[state.Name()]
	probeLock.Unlock()
	if outcome != "failed" && outcome != "branched" {
		probeWrite(position, state.Name(), outcome)
	} else if isInBranch && probeIsSoft(state.Name()) {
		probeWrite(position, state.Name(), "branched")
	} else {
		probeWrite(position, state.Name(), "failed")
	}
}

// The same for an assertion in the test itself. Only the state of the test tells whether a call failed it: the next
// assertion, or the end of the test, finds that out.
func probeStep(t interface{}, position, outcome string) {
	if state := probeTestOf(t); state != nil {
		probeLock.Lock()
		probeBranch[state.Name()] = outcome == "branched"
		probeLock.Unlock()
	}
	probeReach(t, position, outcome)
	if state := probeTestOf(t); state != nil && state.Failed() {
		probeStop(state.Name())
	} else if state != nil {
		probeSetLast(state.Name(), position)
	}
}

func probeSetLast(name, position string) {
	probeLock.Lock()
	defer probeLock.Unlock()
	probeLast[name] = position
}

// Records the line of the assertion by which a test failed first.
func probeStop(name string) {
	probeLock.Lock()
	last := probeLast[name]
	probeLast[name] = ""
	isFirst := last != "" && !probeStopped[name]
	probeStopped[name] = true
	probeLock.Unlock()
	if isFirst {
		probeWrite("stop:"+strings.Split(last, ":")[0], name, "failed")
	}
}

// A condition in the test itself that fails the test if it is true. It keeps its value.
func probeGuard(t interface{}, position, outcome string, fails bool) bool {
	probeStep(t, position, outcome)
	if state := probeTestOf(t); state != nil && fails {
		probeStop(state.Name())
		return !probeGoesOn(state.Name())
	} else if state != nil {
		probeSetLast(state.Name(), "")
	}
	return fails
}

// The same in a helper.
func probeHeld(t interface{}, position, outcome string, fails bool) bool {
	probeReach(t, position, outcome)
	state := probeTestOf(t)
	if state == nil || !fails || !probeIsSoft(state.Name()) {
		return fails
	}
	probeStop(state.Name())
	return !probeGoesOn(state.Name())
}

// Whether a test goes on after a condition that fails it; it fails at its end.
func probeGoesOn(test string) bool {
	if !probeIsSoft(test) {
		return false
	}
	probeLock.Lock()
	defer probeLock.Unlock()
	probeWentOn[test] = true
	return true
}

func probeHasGoneOn(test string) bool {
	probeLock.Lock()
	defer probeLock.Unlock()
	return probeWentOn[test]
}

// Another condition in the test itself.
func probeSeen(t interface{}, position, outcome string, value bool) bool {
	probeStep(t, position, outcome)
	return value
}

// A condition in a helper.
func probePassed(t interface{}, position, outcome string, value bool) bool {
	probeReach(t, position, outcome)
	return value
}

// A comparison of a condition that fails the test. If its opposite is false, too, as with NaN, it can't fail.
func probeOrder(t interface{}, position string, holds, isOpposite bool) bool {
	if !holds && !isOpposite {
		probeReach(t, position, "passed")
	}
	return holds
}

// A comparison by a method of the product. If it also holds with another last value, it can't fail.
func probeEqual(t interface{}, position string, holds bool, compare interface{}, values ...interface{}) bool {
	state := probeTestOf(t)
	if !holds || state == nil {
		return holds
	}
	round := probeRecord{position, state.Name(), ""}
	probeLock.Lock()
	probeRounds[round]++
	isNew := probeRounds[round] <= probeMostRounds
	probeLock.Unlock()
	if isNew && probeHoldsForOther(compare, values) {
		probeReach(t, position, "passed")
	}
	return holds
}

func probeHoldsForOther(compare interface{}, values []interface{}) (holds bool) {
	defer func() {
		if recover() != nil {
			holds = false
		}
	}()
	call := reflect.ValueOf(compare)
	given := make([]reflect.Value, len(values))
	for index, value := range values {
		given[index] = reflect.New(call.Type().In(index)).Elem()
		if value != nil {
			given[index].Set(reflect.ValueOf(value).Convert(given[index].Type()))
		}
	}
	last := given[len(given)-1]
	if other := reflect.ValueOf(probeRecord{}); last.Type() == reflect.TypeOf((*error)(nil)).Elem() {
		last.Set(other)
	} else if !probeChange(last, 0) {
		return false
	}
	return call.Call(given)[0].Bool()
}

// Changes a value, but nothing to which it refers.
func probeChange(value reflect.Value, depth int) bool {
	switch kind := value.Kind(); {
	case depth > probeDeepest:
		return false
	case kind == reflect.Bool:
		value.SetBool(!value.Bool())
	case kind == reflect.String:
		value.SetString(value.String() + "TEXT")
	case kind >= reflect.Int && kind <= reflect.Int64:
		value.SetInt(value.Int() + 1)
	case kind >= reflect.Uint && kind <= reflect.Uintptr:
		value.SetUint(value.Uint() + 1)
	case kind == reflect.Float32 || kind == reflect.Float64:
		value.SetFloat(2*value.Float() + 1)
	case kind == reflect.Struct:
		return probeChangeFields(value, depth)
	case kind == reflect.Array && value.Len() > 0:
		return probeChange(value.Index(0), depth+1)
	case kind == reflect.Slice:
		isEmpty := value.Len() == 0
		copied := reflect.AppendSlice(reflect.MakeSlice(value.Type(), 0, value.Len()+1), value)
		if isEmpty {
			copied = reflect.Append(copied, reflect.Zero(value.Type().Elem()))
		}
		value.Set(copied)
		return probeChange(copied.Index(0), depth+1) || isEmpty
	case (kind == reflect.Ptr || kind == reflect.Interface) && !value.IsNil():
		return probeChangeInside(value, depth)
	default:
		return false
	}
	return true
}

func probeChangeFields(value reflect.Value, depth int) bool {
	isChanged := false
	for index := 0; index < value.NumField(); index++ {
		field := value.Field(index)
		field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
		isChanged = probeChange(field, depth+1) || isChanged
	}
	return isChanged
}

func probeChangeInside(value reflect.Value, depth int) bool {
	inside := value.Elem()
	copied := reflect.New(inside.Type())
	copied.Elem().Set(inside)
	if !probeChange(copied.Elem(), depth+1) {
		return false
	}
	if value.Kind() == reflect.Interface {
		copied = copied.Elem()
	}
	value.Set(copied)
	return true
}

// The last thing that a test does. It fails, so that a forged result shows.
func probeTest(t *testing.T) {
	if cause := recover(); cause != nil && !probeHasGoneOn(t.Name()) {
		panic(cause)
	}
	probeFinish(t)
	t.Fail()
}

// The last thing that a subtest does.
func probeSubtest(t *testing.T) {
	if cause := recover(); cause != nil && !probeHasGoneOn(t.Name()) {
		panic(cause)
	}
	probeFinish(t)
	if probeHasGoneOn(t.Name()) {
		t.Fail()
	}
}

// A test that comes to its end without a failure passed. Its clean-up may have assertions, too.
func probeFinish(t *testing.T) {
	name := t.Name()
	if t.Failed() {
		probeStop(name)
	}
	if probeIsSoft(name) && (t.Failed() || probeHasGoneOn(name)) {
		probeWrite("soft", name, "failed")
	} else if !t.Failed() && !t.Skipped() {
		probeWrite("end", name, "failed")
	}
	t.Cleanup(func() {
		probeLock.Lock()
		defer probeLock.Unlock()
		probeEnded[name] = true
	})
}
