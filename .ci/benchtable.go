// Command benchtable reads the output of go test -bench from standard input,
// several rounds of it, and prints one table with the medians.
//
// A group is the sub-benchmarks of one benchmark. Where one of them is the
// yardstick (its last name is one of those in yardsticks), the others show how
// many times longer they take: the median over the rounds of the quotients
// within a round, so that what slows a whole round cancels out.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// yardsticks are the names of sub-benchmarks the others are measured against.
var yardsticks = []string{"ungoverned", "direct", "plain", "baseline", "base", "raw", "rawcopy", "ping", "PING"}

// A bench is one benchmark over all rounds.
type bench struct {
	place, name string               // folder of the package; name without Benchmark and -GOMAXPROCS
	rounds      map[string][]float64 // unit → one value a round
	units       []string             // in the order in which they came
}

// group is the part of the name that yardstick and measured have in common,
// last the rest.
func (b *bench) group() (group, last string) {
	if i := strings.LastIndexByte(b.name, '/'); i >= 0 {
		return b.place + " " + b.name[:i], b.name[i+1:]
	}
	return b.place + " " + b.name, ""
}

func main() {
	benches, err := read(os.Stdin)
	if err == nil {
		err = write(os.Stdout, benches)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// read collects lines of the form "folder BenchmarkName-2 100 12.3 ns/op …".
func read(r io.Reader) ([]*bench, error) {
	var order []*bench
	known := map[string]*bench{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		place, name, values, ok := parse(lines.Text())
		if !ok {
			continue
		}
		b := known[place+" "+name]
		if b == nil {
			b = &bench{place: place, name: name, rounds: map[string][]float64{}}
			known[place+" "+name] = b
			order = append(order, b)
		}
		for i := 0; i+1 < len(values); i += 2 {
			v, err := strconv.ParseFloat(values[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", place, name, err)
			}
			unit := values[i+1]
			if !slices.Contains(b.units, unit) {
				b.units = append(b.units, unit)
			}
			b.rounds[unit] = append(b.rounds[unit], v)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("no benchmark lines in the input")
	}
	return order, nil
}

// parse splits a line; ok is false for anything that is no result.
func parse(line string) (place, name string, values []string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 || !strings.HasPrefix(fields[1], "Benchmark") {
		return "", "", nil, false
	}
	if _, err := strconv.Atoi(fields[2]); err != nil {
		return "", "", nil, false
	}
	name = strings.TrimPrefix(fields[1], "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	return fields[0], name, fields[3:], true
}

func write(w io.Writer, benches []*bench) error {
	sticks := map[string]*bench{}
	for _, b := range benches {
		if group, last := b.group(); slices.Contains(yardsticks, last) {
			sticks[group] = b
		}
	}

	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "time\tratio\tspread\tallocs\tB\trounds\tbenchmark\t\n")
	for _, b := range benches {
		times := b.rounds["ns/op"]
		group, _ := b.group()
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%d\t", duration(median(times)), ratio(b, sticks[group]), spread(times),
			count(b.rounds["allocs/op"]), count(b.rounds["B/op"]), len(times))
		// The last cell is padded on the left too; a cell without a tab after
		// it is not, and names read better that way.
		fmt.Fprintf(out, "  %s %s%s\n", b.place, b.name, extra(b))
	}
	return out.Flush()
}

func ratio(b, stick *bench) string {
	switch {
	case stick == nil:
		return ""
	case stick == b:
		return "1"
	}
	mine, theirs := b.rounds["ns/op"], stick.rounds["ns/op"]
	n := min(len(mine), len(theirs))
	quotients := make([]float64, n)
	for i := range n {
		quotients[i] = mine[i] / theirs[i]
	}
	return fmt.Sprintf("%.3f×", median(quotients))
}

// extra is what a benchmark reported beyond time and memory.
func extra(b *bench) string {
	var text strings.Builder
	for _, unit := range b.units {
		switch unit {
		case "ns/op", "B/op", "allocs/op":
		default:
			fmt.Fprintf(&text, "  [%s %s]", strconv.FormatFloat(median(b.rounds[unit]), 'g', 5, 64), unit)
		}
	}
	return text.String()
}

// spread is how far the rounds lie apart, as a share of the median.
func spread(values []float64) string {
	if len(values) < 2 || median(values) == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*(slices.Max(values)-slices.Min(values))/median(values))
}

func count(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	return strconv.FormatFloat(median(values), 'f', 0, 64)
}

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.4g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.4g µs", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.4g ms", ns/1e6)
	}
	return fmt.Sprintf("%.4g s", ns/1e9)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
