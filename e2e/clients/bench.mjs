// Loads a page again and again for the benchmarks of e2e/bench_test.go.
//
//   node bench.mjs playwright|puppeteer [intercept]
//
// Each line on standard input is a URL; the answer on standard output is the
// milliseconds until its load event. With "intercept" the client pauses every
// request and continues it at once, by its library's own means.

import { createInterface } from 'node:readline';

const connect = {
  async playwright(endpoint, intercept) {
    const { chromium } = await import('playwright-core');
    const browser = await chromium.connectOverCDP(endpoint);
    const page = await browser.contexts()[0].newPage();
    if (intercept) await page.route('**/*', route => route.continue());
    return { page, leave: () => browser.close() };
  },

  async puppeteer(endpoint, intercept) {
    const { default: puppeteer } = await import('puppeteer-core');
    const browser = await puppeteer.connect({ browserURL: endpoint, defaultViewport: null });
    const page = await browser.newPage();
    if (intercept) {
      await page.setRequestInterception(true);
      page.on('request', request => request.continue());
    }
    return { page, leave: () => browser.disconnect() };
  },
};

const [library, intercept] = process.argv.slice(2);
const { page, leave } = await connect[library](process.env.BROWSER_GOVERNOR_CDP_URL, intercept === 'intercept');
console.log('ready');
for await (const url of createInterface({ input: process.stdin })) {
  const started = performance.now();
  await page.goto(url, { waitUntil: 'load' });
  console.log((performance.now() - started).toFixed(3));
}
await leave();
