package actions_test

import (
	"strings"
	"testing"

	"browsergovernor/actions"
)

func TestDenied(t *testing.T) {
	for _, c := range []struct {
		method, params string
		page           bool
		want           bool
	}{
		{"Fetch.enable", `{}`, false, true},
		{"Fetch.continueRequest", `{"requestId":"1","url":"http://h/"}`, false, true},
		{"Fetch.disable", ``, false, true},
		{"Fetch.enable", `{}`, true, false},
		{"Fetch.continueRequest", `{"requestId":"1"}`, true, false},
		{"Network.loadNetworkResource", `{"url":"http://h/"}`, true, true},
		{"Network.enable", ``, false, false},
		{"Target.exposeDevToolsProtocol", `{"targetId":"T","inheritPermissions":true}`, false, true},
		{"Target.exposeDevToolsProtocol", `{"targetId":"T","inheritPermissions":false}`, false, true},
		{"Target.exposeDevToolsProtocol", `{"targetId":"T"}`, false, true},
		{"Target.exposeDevToolsProtocol", `{"targetId":`, false, true},
		{"Target.createBrowserContext", `{"disposeOnDetach":true}`, false, false},
		{"Target.createBrowserContext", ``, false, false},
		{"Target.createBrowserContext", `{"proxyServer":null}`, false, false},
		{"Target.createBrowserContext", `{"proxyServer":"direct://"}`, false, true},
		{"Target.createBrowserContext", `{"proxyServer":""}`, false, true},
		{"Target.createBrowserContext", `{"proxyBypassList":"*"}`, false, true},
		{"Target.createBrowserContext", `{"\u0070roxyServer":/**/"direct://"}`, false, true},
		{"Target.createBrowserContext", `nonsense`, false, true},
		{"Tethering.bind", `{"port":1}`, false, true},
		{"Tethering.unbind", `{"port":1}`, false, true},
		{"Extensions.loadUnpacked", `{"path":"/x"}`, false, true},
		{"Extensions.getExtensions", ``, false, false},
		{"Target.setRemoteLocations", `{"locations":[]}`, false, true},
		{"Target.openDevTools", `{"targetId":"T"}`, false, true},
		{"Target.sendMessageToTarget", `{"message":"{}"}`, true, true},
		{"Target.attachToBrowserTarget", ``, false, false},
		{"Target.createTarget", `{"url":"about:blank"}`, false, false},
		{"Browser.close", ``, false, true},
		{"Browser.crash", ``, false, true},
		{"Browser.crashGpuProcess", ``, false, true},
		{"Browser.getVersion", ``, false, false},
		{"Page.close", ``, true, false},
		{"", ``, false, false},
	} {
		why, denied := actions.Denied(c.method, []byte(c.params), c.page)
		if denied != c.want {
			t.Errorf("Denied(%s, %s, %v) = %v", c.method, c.params, c.page, denied)
		}
		// The sentence ends up in a CDP error of at most 200 characters that no
		// client may take for a network error.
		if denied == (why == "") || len(why) > 160 || strings.Contains(why, "net::") || strings.Contains(why, "ERR_") || strings.ContainsAny(why, "\r\n") {
			t.Errorf("%s: %q", c.method, why)
		}
	}
}

func TestRootFetchAuth(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           bool
	}{
		{"Fetch.enable", `{"handleAuthRequests":true}`, true},
		{"Fetch.enable", `{"patterns":[{"urlPattern":"*"}],"handleAuthRequests":true}`, true},
		{"Fetch.enable", `{"handleAuthRequests":false}`, false},
		{"Fetch.enable", `{"HandleAuthRequests":true}`, false},
		{"Fetch.enable", ``, false},
		{"Fetch.enable", `{"handleAuthRequests":true`, false},
		{"Fetch.continueRequest", `{"handleAuthRequests":true}`, false},
	} {
		if got := actions.RootFetchAuth(c.method, []byte(c.params)); got != c.want {
			t.Errorf("RootFetchAuth(%s, %s) = %v", c.method, c.params, got)
		}
	}
}
