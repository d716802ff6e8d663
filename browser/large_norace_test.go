//go:build !race

package browser

// largeMessage is what the test of large messages sends, in bytes.
const largeMessage = 100_000_000
