// Command oldchromedp is an unmodified script for chromedp 0.14, whose API is
// from before v0.20. Only the endpoint it is given is the governor's. It prints
// one line a step: "STEP TEXT".
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/chromedp"
)

func main() {
	allocCtx, cancel := chromedp.NewRemoteAllocator(context.Background(), os.Args[1])
	defer cancel()
	ctx, cancel := chromedp.NewContext(allocCtx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 60*time.Second)
	defer cancel()

	var title, heading string
	err := chromedp.Run(ctx, chromedp.Navigate("http://a.test/"), chromedp.Title(&title))
	report("goto", title, err)
	err = chromedp.Run(ctx, chromedp.Click("#next", chromedp.ByQuery), chromedp.WaitVisible("#there", chromedp.ByQuery), chromedp.Title(&title))
	report("click", title, err)
	err = chromedp.Run(ctx, chromedp.NavigateBack(), chromedp.Title(&title))
	report("back", title, err)
	err = chromedp.Run(ctx, chromedp.Navigate("http://a.test/private/typed"))
	report("refused", "", err)
	err = chromedp.Run(ctx, chromedp.Navigate("http://a.test/"),
		chromedp.Click("#private", chromedp.ByQuery), chromedp.WaitVisible("main h1", chromedp.ByQuery),
		chromedp.Text("h1", &heading, chromedp.ByQuery))
	report("clicked", heading, err)
}

func report(step, text string, err error) {
	if err != nil {
		text = "error: " + err.Error()
	}
	fmt.Println(step, text)
}
