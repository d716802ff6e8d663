package actions

import "strings"

// Denied tells which CDP commands would walk around the governor, and why, in a
// sentence for whoever sent it. PageSession is false for a client's root session
// and for sessions from Target.attachToBrowserTarget.
//
// A command that is denied because of a parameter is also denied when its
// parameters cannot be read. Three answers are the caller's to soften: a root
// Fetch.enable that only asks for authentication ([RootFetchAuth]),
// Browser.close on a Chrome that nobody shares, and Extensions.loadUnpacked
// where the policy allows it.
//
// All but Target.openDevTools, Tethering and Browser.* were seen to escape on
// Chromium 156 or, for loadUnpacked, to load code whose commands no proxy sees.
func Denied(method string, params []byte, pageSession bool) (why string, denied bool) {
	domain, name, _ := strings.Cut(method, ".")
	switch domain {
	case "Fetch":
		if !pageSession {
			return method + " on a browser-level session could rewrite requests behind the governor; use it on a page's session", true
		}
	case "Tethering":
		return method + " opens ports that lead around the governor", true
	case "Browser":
		switch name {
		case "close", "crash", "crashGpuProcess":
			return method + " would end a browser that others share; disconnect instead", true
		}
	case "Target":
		return deniedTarget(method, params)
	}
	switch method {
	case "Network.loadNetworkResource":
		return method + " makes a request that cannot be paused; navigate or fetch() in the page instead", true
	case "Extensions.loadUnpacked":
		return method + " loads code that can command the browser unseen; the policy does not allow it", true
	}
	return "", false
}

func deniedTarget(method string, params []byte) (why string, denied bool) {
	switch method {
	case "Target.setRemoteLocations":
		return method + " would bring in browsers that are not governed", true
	case "Target.sendMessageToTarget":
		return method + " hides a command inside a message; attach with flatten:true instead", true
	case "Target.openDevTools":
		return method + " starts a second client that is not governed", true
	case "Target.exposeDevToolsProtocol":
		return method + " gives a page's own scripts commands that are not governed", true
	case "Target.createBrowserContext":
		proxy := false
		ok := eachField(params, func(name, value []byte) {
			if (string(name) == "proxyServer" || string(name) == "proxyBypassList") && !null(value) {
				proxy = true
			}
		})
		if proxy || !ok {
			return method + " with proxyServer or proxyBypassList would lead around the governor; leave them out and set the upstream proxy of the governor", true
		}
	}
	return "", false
}

// RootFetchAuth reports whether a command is the Fetch.enable{handleAuthRequests}
// with which browser-use, on its root session, offers the credentials of a
// proxy. It must go on working, but not as Chrome's own Fetch of that session.
func RootFetchAuth(method string, params []byte) bool {
	if method != "Fetch.enable" {
		return false
	}
	auth := false
	ok := eachField(params, func(name, value []byte) {
		if string(name) == "handleAuthRequests" {
			auth = truth(value)
		}
	})
	return ok && auth
}
