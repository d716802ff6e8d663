// Command after is the same script, governed: the allocator is another one, and
// a refusal is an answer.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/chromedp/chromedp"

	"browsergovernor/browser"
	"browsergovernor/examples/chromedp-script/shop"
	"browsergovernor/governor"
)

func main() {
	s := shop.Open()
	defer s.Close()

	gov, err := governor.New(governor.Config{Policy: governor.DefaultPolicy()})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := browser.NewAllocator(context.Background(), gov, browser.Options{NoSandbox: os.Getuid() == 0})
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()

	for _, path := range []string{"/", "/item", "/checkout"} {
		err := chromedp.Do(ctx, chromedp.Navigate(s.URL+path))
		if r, ok := browser.Refused(ctx, err); ok {
			fmt.Println(path, r.Sentence)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		title, err := chromedp.Run(ctx, chromedp.Title())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(path, title)
	}
	if s.Report() > 0 {
		os.Exit(1)
	}
}
