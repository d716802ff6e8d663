package browser

import (
	"context"
	"slices"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// downloadDenied reports whether a document's answer would become a file
// although the policy denies downloads.
func (b *Browser) downloadDenied(p *actions.Paused) bool {
	return slices.Contains(b.policy.Deny, string(actions.Download)) && p.ResponseErrorReason == "" &&
		actions.BecomesFile(p.ResponseStatusCode, p.ResponseHeader("Content-Disposition"), p.ResponseHeader("Content-Type"))
}

// refuseDownload puts the refusal in the place of an answer whose headers are
// known and whose body is not read yet: nothing of it reaches the disk.
func (b *Browser) refuseDownload(p *actions.Paused) {
	a := actions.Action{Kind: actions.Download, Method: p.Method, URL: p.URL, Resource: p.ResourceType}
	if h := b.hops.take(p.RequestID); h != nil {
		a.Client, a.Tab, a.Frame, a.Cause = h.action.Client, h.action.Tab, h.action.Frame, h.id
		b.gov.Settle(h.id, governor.Outcome{Status: p.ResponseStatusCode, Header: entriesToHeader(p.ResponseHeaders), Latency: time.Since(h.started)})
	}
	b.offWire(func() {
		d := b.gov.Admit(context.Background(), a)
		if d.Allowed() {
			b.passResponse(p)
			return
		}
		b.refuseRequest(p, a, d.Refusal)
	})
}

// mayDownload reports whether a request's answer must be seen because it could
// become a file: frames save what they cannot show as tabs do.
func (b *Browser) mayDownload(p *actions.Paused) bool {
	return p.ResourceType == "Document" && slices.Contains(b.policy.Deny, string(actions.Download))
}
