//go:build race

package robots

// slower is how many times longer the race detector makes things take.
const slower = 10
