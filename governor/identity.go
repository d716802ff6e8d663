package governor

// Policy returns the policy in force.
func (g *Governor) Policy() Policy { return g.policy }

// SetUserAgent makes the requests for robots.txt name themselves as the browser
// does from now on. A site that answers the two differently would otherwise be
// asked under one name and visited under another.
func (g *Governor) SetUserAgent(ua string) { g.userAgent.Store(&ua) }

// robotsAgent is the User-Agent set by SetUserAgent, or fallback.
func (g *Governor) robotsAgent(fallback string) string {
	if ua := g.userAgent.Load(); ua != nil {
		return *ua
	}
	return fallback
}
