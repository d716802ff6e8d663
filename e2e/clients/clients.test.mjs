// The two drivers run the same script and must tell the same story: same values,
// same statuses, same pages. With BROWSER_GOVERNOR_CDP_URL set they run against
// that endpoint, else against a plain Chromium: a governor must change nothing
// where it refuses nothing.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startChromium } from './chromium.mjs';

const DRIVERS = ['playwright', 'puppeteer'];

const PAGES = {
  '/': `<title>First</title><h1>one</h1>
    <a id=next href="/second">next</a> <a id=pop href="/second" target=_blank>popup</a>
    <a id=file href="/file.txt" download>file</a> <a id=gone href="/gone">gone</a>
    <button id=ask onclick="document.title = confirm('sure?') ? 'Yes' : 'No'">ask</button>
    <form action="/form"><input id=q name=q><select id=s name=s><option>a<option>b</select></form>
    <input type=file id=up><iframe id=f src="/inner"></iframe>`,
  '/second': '<title>Second</title><h1>two</h1><img src="/pixel.png">',
  '/inner': '<h2>inside</h2>',
  '/form': '<title>Form</title><h1>form</h1>',
};

let site, chromium, folder;

before(async () => {
  site = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://site');
    if (pathname === '/file.txt') {
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Disposition': 'attachment; filename=file.txt' });
      return response.end('12345');
    }
    const page = PAGES[pathname];
    response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html' });
    response.end(page ?? '<title>Missing</title><h1>missing</h1>');
  });
  await new Promise(resolve => site.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'driver-test-'));
  await writeFile(join(folder, 'upload.txt'), 'hello');
  const endpoint = process.env.BROWSER_GOVERNOR_CDP_URL;
  chromium = endpoint ? { endpoint, stop: async () => {} } : await startChromium();
});

after(async () => {
  await chromium?.stop();
  site?.closeAllConnections();
  site?.close();
  if (folder) await rm(folder, { recursive: true });
});

async function drive(driver, script, endpoint = chromium.endpoint) {
  const path = fileURLToPath(new URL(`driver-${driver}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, BROWSER_GOVERNOR_CDP_URL: endpoint },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(typeof script === 'string' ? script : JSON.stringify(script));
  let out = '', err = '';
  child.stdout.setEncoding('utf8').on('data', text => { out += text; });
  child.stderr.setEncoding('utf8').on('data', text => { err += text; });
  const code = await new Promise(resolve => child.once('close', resolve));
  return { code, err, lines: out.split('\n').filter(Boolean).map(line => JSON.parse(line)) };
}

function script(base) {
  return [
    { do: 'goto', url: `${base}/` },
    { do: 'title' },
    { do: 'text', selector: 'h1' },
    { do: 'frame', selector: '#f', inner: 'h2' },
    { do: 'dialog', selector: '#ask' },
    { do: 'title' },
    { do: 'upload', selector: '#up', file: join(folder, 'upload.txt') },
    { do: 'select', selector: '#s', value: 'b' },
    { do: 'type', selector: '#q', text: 'hi there' },
    { do: 'press', selector: '#q', key: 'Enter', wait: true },
    { do: 'back' },
    { do: 'forward' },
    { do: 'goto', url: `${base}/` },
    { do: 'click', selector: '#next', wait: true },
    { do: 'back' },
    { do: 'reload' },
    { do: 'download', selector: '#file' },
    { do: 'popup', selector: '#pop' },
    { do: 'close' },
    { do: 'title' },
    { do: 'newtab', url: `${base}/second` },
    { do: 'close' },
    { do: 'context', url: `${base}/second` },
    { do: 'eval', expr: 'document.cookie.length + 2' },
    { do: 'close' },
    { do: 'route-block', pattern: '/second' },
    { do: 'eval', expr: `fetch('/second').then(() => 'through', () => 'blocked')` },
    { do: 'eval', expr: `fetch('/inner').then(() => 'through', () => 'blocked')` },
    { do: 'click', selector: '#gone', wait: true },
    { do: 'wait', selector: 'h1' },
    { do: 'click', selector: '#nothing', timeout: 300 },
    { do: 'ua' },
    { do: 'screenshot' },
  ];
}

const WANTED = [
  { do: 'connect', ok: true },
  { do: 'goto', ok: true, status: 200, statusText: 'OK', path: '/', title: 'First' },
  { do: 'title', ok: true, value: 'First' },
  { do: 'text', ok: true, value: 'one' },
  { do: 'frame', ok: true, value: 'inside' },
  { do: 'dialog', ok: true, value: 'sure?' },
  { do: 'title', ok: true, value: 'Yes' },
  { do: 'upload', ok: true, value: 'upload.txt' },
  { do: 'select', ok: true, value: ['b'] },
  { do: 'type', ok: true },
  { do: 'press', ok: true, status: 200, path: '/form?q=hi+there&s=b', title: 'Form' },
  { do: 'back', ok: true, status: 200, path: '/', title: 'First' },
  { do: 'forward', ok: true, status: 200, path: '/form?q=hi+there&s=b' },
  { do: 'goto', ok: true, status: 200, path: '/' },
  { do: 'click', ok: true, status: 200, path: '/second', title: 'Second' },
  { do: 'back', ok: true, path: '/', title: 'First' },
  { do: 'reload', ok: true, status: 200, path: '/' },
  { do: 'download', ok: true, value: { name: 'file.txt', size: 5 }, path: '/' },
  { do: 'popup', ok: true, path: '/second', title: 'Second' },
  { do: 'close', ok: true, path: '/', title: 'First' },
  { do: 'title', ok: true, value: 'First' },
  { do: 'newtab', ok: true, status: 200, path: '/second' },
  { do: 'close', ok: true, path: '/' },
  { do: 'context', ok: true, status: 200, path: '/second' },
  { do: 'eval', ok: true, value: 2 },
  { do: 'close', ok: true, path: '/' },
  { do: 'route-block', ok: true },
  { do: 'eval', ok: true, value: 'blocked' },
  { do: 'eval', ok: true, value: 'through' },
  { do: 'click', ok: true, status: 404, statusText: 'Not Found', path: '/gone', title: 'Missing' },
  { do: 'wait', ok: true },
  { do: 'click', ok: false, path: '/gone' },
  { do: 'ua', ok: true },
  { do: 'screenshot', ok: true },
];

for (const driver of DRIVERS) {
  test(`${driver} tells every step as it was`, { timeout: 90_000 }, async () => {
    const base = `http://127.0.0.1:${site.address().port}`;
    const { code, err, lines } = await drive(driver, script(base));
    assert.equal(code, 0, err);
    assert.equal(lines.length, WANTED.length);
    for (const [n, wanted] of WANTED.entries()) {
      const { path, ...fields } = wanted;
      const line = lines[n];
      assert.equal(line.step, n);
      assert.equal(typeof line.ms, 'number');
      if (path) assert.equal(line.url, base + path, `step ${n}: ${JSON.stringify(line)}`);
      for (const [key, value] of Object.entries(fields)) {
        assert.deepEqual(line[key], value, `step ${n}, ${key}: ${JSON.stringify(line)}`);
      }
    }
    const [click, ua, screenshot] = lines.slice(-3);
    assert.match(click.error, /300|nothing/i);
    assert.match(ua.value, /Mozilla/);
    assert.ok(screenshot.value > 1000, 'an empty screenshot');
  });

  test(`${driver} says what is wrong with a script`, { timeout: 30_000 }, async () => {
    for (const [text, wanted] of [
      ['{', /not JSON/],
      ['{}', /not a JSON array/],
      ['[{"do":"fly"}]', /step 1: unknown step "fly"/],
      ['[{"do":"title"},{"do":"goto"}]', /step 2 \(goto\): needs a string "url"/],
      ['[{"do":"title","timeout":-1}]', /"timeout" is not a positive number/],
    ]) {
      const { code, err, lines } = await drive(driver, text);
      assert.equal(code, 2, text);
      assert.match(err, wanted);
      assert.deepEqual(lines, []);
    }
  });

  test(`${driver} reports a connection that cannot be made`, { timeout: 60_000 }, async () => {
    const { code, lines } = await drive(driver, [{ do: 'title' }], 'http://127.0.0.1:1');
    assert.equal(code, 3);
    assert.equal(lines.length, 1);
    assert.equal(lines[0].ok, false);
  });
}
