// Command before is an ordinary chromedp script.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/chromedp/chromedp"

	"browsergovernor/examples/chromedp-script/shop"
)

func main() {
	s := shop.Open()
	defer s.Close()

	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.DefaultExecAllocatorOptions[:]...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()

	for _, path := range []string{"/", "/item", "/checkout"} {
		if err := chromedp.Do(ctx, chromedp.Navigate(s.URL+path)); err != nil {
			log.Fatal(err)
		}
		title, err := chromedp.Run(ctx, chromedp.Title())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(path, title)
	}
	s.Report()
}
