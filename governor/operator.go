package governor

import (
	"strings"

	"browsergovernor/actions"
)

// Notes that the state is rebuilt from, see Restore.
const (
	noteChallenge = "challenge"
	notePause     = "pause"
	noteResume    = "resume"
)

// Pause refuses every action on a host, "" for all hosts, those that wait
// included. It lasts until Resume or the end of the program.
func (g *Governor) Pause(host string) {
	g.mu.Lock()
	if host == "" {
		g.paused = true
	} else {
		g.pausedAt[hostKey(host)] = true
	}
	g.repriceAll(hostKey(host))
	g.mu.Unlock()
	_ = g.note(hostKey(host), notePause, "paused by the operator: "+orEverything(host), Paused)
}

// Resume ends a pause. On a host it also lifts a challenge and the rest of a
// cool-down: a person has decided. "" ends the pause of everything, not those of
// single hosts.
func (g *Governor) Resume(host string) {
	g.mu.Lock()
	if host == "" {
		g.paused = false
	} else {
		delete(g.pausedAt, hostKey(host))
		if h := g.hosts.get(hostKey(host)); h != nil {
			_, now := g.tell()
			h.reopen(now)
		}
	}
	g.repriceAll(hostKey(host))
	g.mu.Unlock()
	_ = g.note(hostKey(host), noteResume, "resumed by the operator: "+orEverything(host), "")
}

// reopen ends challenge and cool-down, without the burst that gathered meanwhile.
func (h *host) reopen(now tick) {
	h.challenged, h.strikes, h.subFails = false, 0, 0
	if h.closed > now {
		h.closed = now
	}
	h.thaw(now)
}

// hostKey accepts a host, with or without port, and a URL.
func hostKey(host string) string {
	if host == "" {
		return ""
	}
	if !strings.Contains(host, "://") {
		// http: a port 443 written out is kept, as it must be for http URLs.
		host = "http://" + host
	}
	if key := actions.Host(host); key != "" {
		return key
	}
	return host
}

func orEverything(host string) string {
	if host == "" {
		return "everything"
	}
	return host
}

// Note writes down something worth keeping that is no action: a start, a stop,
// a client, a crash, a protection that is off. note is one word, text one sentence.
func (g *Governor) Note(note, text string) error { return g.note("", note, text, "") }

// Refuse writes down and returns a refusal that was decided elsewhere, such as
// [PrivateNetwork] by whoever resolves names or [StoreUnavailable] by a shared
// budget. rule says in words what forbids the action.
func (g *Governor) Refuse(a actions.Action, reason Reason, rule string) Decision {
	return g.refuse(&a, actions.Host(a.URL), &denial{reason: reason, what: clean(rule, 140), rule: rule}, 0)
}

// RefuseCommand writes down and returns the refusal of a CDP command that would
// walk around the governor. why is a sentence for whoever sent it.
func (g *Governor) RefuseCommand(method, client, tab, why string) *Refusal {
	a := actions.Action{Kind: "command", Method: method, Client: client, Tab: tab}
	return g.refuse(&a, "", &denial{reason: CommandNotGoverned, what: clean(why, 150), rule: why}, 0).Refusal
}
