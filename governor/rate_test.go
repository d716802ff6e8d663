package governor_test

import (
	"math"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"browsergovernor/governor"
)

func TestParseRate(t *testing.T) {
	for in, want := range map[string]float64{
		"12/minute": 0.2, "1/second": 1, "0.5/s": 0.5, "500/hour": 500.0 / 3600, "20/day": 20.0 / 86400, "3/sec": 3,
		"90/min": 1.5, "36/h": 0.01, "1/d": 1.0 / 86400, "1 per 5s": 0.2, "1/5s": 0.2, "2 per minute": 2.0 / 60,
		" 12 / minutes ": 0.2, "1000000/s": 1e6, "1/500ms": 2,
	} {
		r, err := governor.ParseRate(in)
		if err != nil || float64(r) != want {
			t.Errorf("ParseRate(%q) = %v, %v; want %v", in, float64(r), err, want)
		}
	}
	for _, in := range []string{
		"", "12", "/minute", "12/", "12/month", "12/m", "0/minute", "0/s", "-1/s", "+1/s", "1e9/s", "NaN/s", "inf/s", "0x1/s", "1_0/s",
		"1/0s", "1/-5s", "1 per", "per 5s", "fast", "1/2/3", "1000001/s", "1..2/s", "./s", "12 minute", "1/.5s",
	} {
		if r, err := governor.ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q) = %v", in, r)
		} else if !strings.Contains(err.Error(), "expected") {
			t.Errorf("ParseRate(%q): %v does not say what is expected", in, err)
		}
	}
}

func TestRateString(t *testing.T) {
	for in, want := range map[governor.RateLimit]string{
		0.2: "12/minute", 10: "10/second", 500.0 / 3600: "500/hour", 20.0 / 86400: "20/day", 1.5: "90/minute", 0.01: "36/hour",
		0: "0/second", governor.RateLimit(math.Inf(1)): "+Inf/second", 1.0 / 3: "20/minute",
	} {
		if got := in.String(); got != want {
			t.Errorf("%v = %q, want %q", float64(in), got, want)
		}
	}
}

func TestRateYAML(t *testing.T) {
	var b governor.Bucket
	if err := yaml.Unmarshal([]byte("rate: 12/minute\nburst: 2"), &b); err != nil || b != (governor.Bucket{Rate: 0.2, Burst: 2}) {
		t.Errorf("%+v, %v", b, err)
	}
	if out, err := yaml.Marshal(b); err != nil || string(out) != "rate: 12/minute\nburst: 2\n" {
		t.Errorf("%s, %v", out, err)
	}
	if err := yaml.Unmarshal([]byte("burst: 2\nrate: fast"), &b); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"12/minute", "0.5/s", "1 per 5s", "1/5s", "20/day", "NaN/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := governor.ParseRate(s)
		if err != nil {
			return
		}
		if !(r > 0) || math.IsInf(float64(r), 0) {
			t.Fatalf("ParseRate(%q) = %v", s, float64(r))
		}
		if again, err := governor.ParseRate(r.String()); err != nil || again != r {
			t.Errorf("ParseRate(%q) = %v, which is written %q and read as %v, %v", s, float64(r), r, float64(again), err)
		}
	})
}
