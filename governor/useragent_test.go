package governor_test

import (
	"strings"
	"testing"

	"browsergovernor/governor"
)

func TestUserAgent(t *testing.T) {
	const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
	for _, c := range []struct {
		agent        governor.Agent
		chrome, want string
	}{
		{governor.Agent{Name: "ResearchBot/1.0", Contact: "https://example.com/bot"}, chrome, chrome + " ResearchBot/1.0 (+https://example.com/bot)"},
		{governor.Agent{Name: "ResearchBot/1.0", Contact: "bot@example.com"}, chrome, chrome + " ResearchBot/1.0 (bot@example.com)"},
		{governor.Agent{Name: "ResearchBot", Contact: "https://example.com/bot"}, "", "ResearchBot (+https://example.com/bot)"},
		{governor.Agent{Name: "ResearchBot"}, chrome, chrome + " ResearchBot"},
		{governor.Agent{Name: "ResearchBot"}, "", "ResearchBot"},
		{governor.Agent{}, chrome, chrome},
		{governor.Agent{Name: "A\r\nX-Evil: 1", Contact: "http://h/)\r\n("}, "", "AX-Evil: 1 (+http://h/)"},
	} {
		got := c.agent.UserAgent(c.chrome)
		if got != c.want {
			t.Errorf("%+v:\n got %q\nwant %q", c.agent, got, c.want)
		}
		if strings.ContainsAny(got, "\r\n\x00") {
			t.Errorf("%q cannot stand in a header", got)
		}
	}
}

func TestToken(t *testing.T) {
	for agent, want := range map[governor.Agent]string{
		{Name: "ResearchBot/1.0"}:                   "ResearchBot",
		{Name: "Research_Bot-x"}:                    "Research_Bot-x",
		{Name: "Bot2/1.0"}:                          "Bot",
		{Name: "Bot/1.0", RobotsToken: "Other"}:     "Other",
		{Name: "4bot"}:                              "",
		{Name: governor.DefaultPolicy().Agent.Name}: "browser-governor",
	} {
		if got := agent.Token(); got != want {
			t.Errorf("%+v: %q, want %q", agent, got, want)
		}
	}
}

func TestAgentThatCannotStandInAHeader(t *testing.T) {
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{"agent.name", "ResearchBot/1.0", true},
		{"agent.name", "ResearchBot", true},
		{"agent.name", "", false},
		{"agent.name", "Research Bot", false},
		{"agent.name", "Bot/", false},
		{"agent.name", "Bot/1/2", false},
		{"agent.name", "Bot\r\nHost: x", false},
		{"agent.name", "Bjørn/1.0", false},
		{"agent.name", strings.Repeat("a", 201), false},
		{"agent.contact", "", true},
		{"agent.contact", "https://example.com/bot?x=1", true},
		{"agent.contact", "bot@example.com", true},
		{"agent.contact", "Bot <bot@example.com>", false},
		{"agent.contact", "example.com/bot", false},
		{"agent.contact", "ftp://example.com/", false},
		{"agent.contact", "https:///bot", false},
		{"agent.contact", "https://me:secret@example.com/", false},
		{"agent.contact", "https://example.com/a(b)", false},
		{"agent.contact", "https://example.com/\n", false},
		{"agent.contact", "https://example.com/ü", false},
		{"agent.robots_token", "", true},
		{"agent.robots_token", "Research-Bot_x", true},
		{"agent.robots_token", "Bot/1.0", false},
		{"agent.robots_token", "*", false},
	} {
		if _, err := governor.DefaultPolicy().Set(c.key, c.value); (err == nil) != c.ok {
			t.Errorf("Set(%s, %q): %v", c.key, c.value, err)
		}
	}
}
