//go:build race

package browser

// largeMessage is smaller under the race detector, which takes minutes for
// more.
const largeMessage = 5_000_000
