package browser

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"net"
	"net/http"
)

// websocketGUID is RFC 6455's constant for Sec-WebSocket-Accept.
const websocketGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// handshake stands between the WebSocket library and the HTTP server. It puts
// its own Sec-WebSocket-Accept into the answer, and keeps the connection that
// the library takes over.
type handshake struct {
	http.ResponseWriter
	accept string // "" leaves the library's
	conn   net.Conn
}

// lenientHandshake makes a handshake acceptable whose Sec-WebSocket-Key is not
// 16 bytes in base64: go-rod sends "nil" and expects the hash of that. The
// library is shown a valid key and the answer carries the hash of the client's.
func lenientHandshake(w http.ResponseWriter, r *http.Request) (*handshake, *http.Request) {
	h := &handshake{ResponseWriter: w}
	key := r.Header.Get("Sec-WebSocket-Key")
	if raw, err := base64.StdEncoding.DecodeString(key); key == "" || (err == nil && len(raw) == 16) {
		return h, r
	}
	r = r.Clone(r.Context())
	r.Header.Set("Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(make([]byte, 16)))
	sum := sha1.Sum([]byte(key + websocketGUID))
	h.accept = base64.StdEncoding.EncodeToString(sum[:])
	return h, r
}

// WriteHeader puts the hash in.
func (h *handshake) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols && h.accept != "" {
		h.Header().Set("Sec-WebSocket-Accept", h.accept)
	}
	h.ResponseWriter.WriteHeader(status)
}

// Hijack gives the connection to the WebSocket library.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = conn
	return conn, rw, err
}
