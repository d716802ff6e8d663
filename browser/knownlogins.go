package browser

import (
	"encoding/base64"
	"net/http"
	"sync"

	"browsergovernor/actions"
)

// Chrome repeats a request that was answered with 401 without a pause when it
// knows a login: from the URL, or given before for another page of the host. So
// the governor keeps the logins too, and gives them with the first request of
// everything on that host; then there is no 401 and no second request. Only Basic
// can be given so, and Chrome is told to know no other scheme.

// maxKnownLogins bounds the memory that pages with endless host names can take.
const maxKnownLogins = 1024

// knownLogins are values of the Authorization header, by browser context and
// origin. It is safe for concurrent use. The zero value knows none.
type knownLogins struct {
	mu sync.Mutex
	m  map[loginPlace]string
}

type loginPlace struct{ context, origin string }

func (k *knownLogins) learn(at loginPlace, user, password string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil || len(k.m) >= maxKnownLogins {
		k.m = map[loginPlace]string{}
	}
	k.m[at] = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func (k *knownLogins) get(at loginPlace) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.m[at]
}

// refused forgets a login that the server did not take.
func (k *knownLogins) refused(at loginPlace, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m[at] == value {
		delete(k.m, at)
	}
}

// loginPlace returns where a login for p is known, false when the browser context
// of p is not.
func (b *Browser) loginPlace(p *actions.Paused) (loginPlace, bool) {
	t := b.tabs.get(p.FrameID)
	if t == nil {
		return loginPlace{}, false
	}
	return loginPlace{t.context, actions.Origin(p.URL)}, true
}

// authorize returns the URL that Chrome is to ask for in place of p's, "" for the
// same, and the login to give with it, "" for none.
func (b *Browser) authorize(p *actions.Paused) (url, login string) {
	at, ok := b.loginPlace(p)
	bare, user, password, has := actions.CutCredentials(p.URL)
	if has {
		url = bare + p.URLFragment
		if at.origin == "" {
			at.origin = actions.Origin(p.URL)
		}
		b.known.learn(at, user, password)
		ok = true
	}
	if !ok || p.Method == http.MethodOptions || p.Header("Authorization") != "" {
		return url, ""
	}
	return url, b.known.get(at)
}

// loginRefused is told of the answer to a document; a login that led to 401 is
// not given again.
func (b *Browser) loginRefused(p *actions.Paused) {
	if p.ResponseStatusCode != http.StatusUnauthorized {
		return
	}
	if at, ok := b.loginPlace(p); ok {
		b.known.refused(at, b.known.get(at))
	}
}
