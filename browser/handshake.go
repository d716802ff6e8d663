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

// lenientHandshake makes a handshake acceptable whose Sec-WebSocket-Key is not
// 16 bytes in base64: go-rod sends "nil" and expects the hash of that. The
// library is shown a valid key and the answer carries the hash of the client's.
func lenientHandshake(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request) {
	key := r.Header.Get("Sec-WebSocket-Key")
	if raw, err := base64.StdEncoding.DecodeString(key); key == "" || (err == nil && len(raw) == 16) {
		return w, r
	}
	r = r.Clone(r.Context())
	r.Header.Set("Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(make([]byte, 16)))
	sum := sha1.Sum([]byte(key + websocketGUID))
	return &acceptWriter{w, base64.StdEncoding.EncodeToString(sum[:])}, r
}

// acceptWriter puts its own Sec-WebSocket-Accept into the answer.
type acceptWriter struct {
	http.ResponseWriter
	accept string
}

func (w *acceptWriter) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		w.Header().Set("Sec-WebSocket-Accept", w.accept)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Hijack gives the connection to the WebSocket library.
func (w *acceptWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
