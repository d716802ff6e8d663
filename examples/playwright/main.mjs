// Playwright through the governor. The only line that differs from any other
// Playwright program is the endpoint it connects to.
//
// The site is a small local one that writes down every request it gets, so the
// end of this program shows what really left the browser.

import { createServer } from 'node:http';
import { chromium } from 'playwright-core';

const endpoint = process.env.BROWSER_GOVERNOR_CDP_URL;
if (!endpoint) {
  console.error('BROWSER_GOVERNOR_CDP_URL is not set; start me with: browser-governor run -- node examples/playwright/main.mjs');
  process.exit(2);
}

const { base, hits, site } = await startSite();
const browser = await chromium.connectOverCDP(endpoint);
const context = browser.contexts()[0];
const page = context.pages()[0] ?? await context.newPage();

console.log('1. goto the front page');
const response = await page.goto(`${base}/`);
console.log(`   ${response.status()} "${await page.title()}"`);

console.log('2. click a link');
await page.click('#article');
await page.waitForURL('**/article');
console.log(`   "${await page.title()}"`);

console.log('3. goto a page that robots.txt disallows');
let refused = false;
try {
  await page.goto(`${base}/private/inbox`);
  console.log(`   not refused: "${await page.title()}"`);
} catch (error) {
  refused = true;
  console.log(`   ${error.message.split('\n')[0]}`);
}

console.log('4. click a link to such a page');
await page.goto(`${base}/`);
await page.click('#inbox');
await page.waitForURL('**/private/inbox');
console.log(`   title: ${await page.title()}`);
console.log(`   h1:    ${await page.textContent('h1')}`);

await browser.close(); // over CDP this only disconnects
site.closeAllConnections();
site.close();

console.log('What the server counted:');
for (const [path, count] of hits) console.log(`   ${String(count).padStart(3)} ${path}`);

const leaked = [...hits.keys()].filter(path => path.startsWith('/private'));
if (leaked.length > 0 || !refused) {
  console.error(`FAILED: ${leaked.length ? `the server saw ${leaked.join(', ')}` : 'the disallowed goto was not refused'}`);
  process.exitCode = 1;
}

async function startSite() {
  const pages = {
    '/': '<title>Front page</title><h1>Front page</h1><a id=article href=/article>Article</a> <a id=inbox href=/private/inbox>Inbox</a>',
    '/article': '<title>An article</title><h1>An article</h1>',
    '/private/inbox': '<title>Inbox</title><h1>Nobody should read this</h1>',
  };
  const hits = new Map();
  const site = createServer((request, response) => {
    hits.set(request.url, (hits.get(request.url) ?? 0) + 1);
    if (request.url === '/robots.txt') {
      response.setHeader('Content-Type', 'text/plain');
      return response.end('User-agent: *\nDisallow: /private\n');
    }
    const body = pages[request.url];
    response.writeHead(body ? 200 : 404, { 'Content-Type': 'text/html' });
    response.end(body ?? '<title>Not found</title>');
  });
  await new Promise(resolve => site.listen(0, '127.0.0.1', resolve));
  return { base: `http://127.0.0.1:${site.address().port}`, hits, site };
}
