// The steps of steps.mjs by Puppeteer, connected over CDP.

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { main, within } from './steps.mjs';

const answer = response => response && { status: response.status(), statusText: response.statusText() };

class Client {
  name = 'puppeteer';
  #browser;
  #open = []; // {page, context}: context only where this client made it; the last is current
  #blocked = new WeakMap(); // page → patterns

  static async connect(endpoint) {
    const client = new Client();
    const where = /^wss?:/.test(endpoint) ? { browserWSEndpoint: endpoint } : { browserURL: endpoint };
    client.#browser = await puppeteer.connect({ ...where, defaultViewport: null });
    client.#open.push({ page: await client.#browser.newPage() });
    return client;
  }

  get #page() {
    const last = this.#open.at(-1);
    if (!last) throw new Error('no page is open');
    return last.page;
  }

  url() { return this.#open.at(-1)?.page.url(); }
  async currentTitle() { return this.#page.title(); }
  async title() { return { value: await this.#page.title() }; }

  async goto({ url }, timeout) {
    return { response: answer(await this.#page.goto(url, { timeout })) };
  }

  async newtab({ url }, timeout) {
    this.#open.push({ page: await this.#page.browserContext().newPage() });
    return this.goto({ url }, timeout);
  }

  async context({ url }, timeout) {
    const context = await this.#browser.createBrowserContext();
    this.#open.push({ page: await context.newPage(), context });
    return this.goto({ url }, timeout);
  }

  async reload(_, timeout) { return { response: answer(await this.#page.reload({ timeout })) }; }
  async back(_, timeout) { return { response: answer(await this.#page.goBack({ timeout })) }; }
  async forward(_, timeout) { return { response: answer(await this.#page.goForward({ timeout })) }; }

  async close() {
    const { page, context } = this.#open.pop() ?? {};
    await (context ?? page)?.close();
  }

  /** The element, once it is visible: what Playwright waits for by itself. */
  #find(selector, timeout) {
    return this.#page.waitForSelector(selector, { visible: true, timeout });
  }

  async #acting(selector, act, wait, timeout) {
    const element = await this.#find(selector, timeout);
    if (!wait) return void (await act(element));
    const [response] = await Promise.all([this.#page.waitForNavigation({ timeout }), act(element)]);
    return { response: answer(response) };
  }

  click({ selector, wait }, timeout) {
    return this.#acting(selector, element => element.click(), wait, timeout);
  }

  press({ selector, key, wait }, timeout) {
    return this.#acting(selector, element => element.press(key), wait, timeout);
  }

  async type({ selector, text }, timeout) {
    await (await this.#find(selector, timeout)).type(text);
  }

  async select({ selector, value }, timeout) {
    return { value: await (await this.#find(selector, timeout)).select(value) };
  }

  async upload({ selector, file }, timeout) {
    const input = await this.#page.waitForSelector(selector, { timeout });
    await input.uploadFile(file);
    return { value: await input.evaluate(i => i.files[0]?.name) };
  }

  async popup({ selector }, timeout) {
    const element = await this.#find(selector, timeout);
    const opened = new Promise(resolve => this.#page.once('popup', resolve));
    const [popup] = await Promise.all([within(timeout, opened, 'popup'), element.click()]);
    this.#open.push({ page: popup });
    await popup.waitForFunction(() => document.readyState === 'complete', { timeout });
    return { value: popup.url() };
  }

  async dialog({ selector }, timeout) {
    const element = await this.#find(selector, timeout);
    const shown = new Promise((resolve, reject) => {
      this.#page.once('dialog', dialog => {
        const message = dialog.message();
        dialog.accept().then(() => resolve(message), reject);
      });
    });
    const [message] = await Promise.all([within(timeout, shown, 'dialog'), element.click()]);
    return { value: message };
  }

  async download({ selector }, timeout) {
    const page = this.#page;
    const folder = await mkdtemp(join(tmpdir(), 'driver-download-'));
    const session = await this.#browser.target().createCDPSession();
    let refused;
    try {
      await session.send('Browser.setDownloadBehavior', {
        behavior: 'allowAndName', downloadPath: folder, eventsEnabled: true,
        browserContextId: page.browserContext().id,
      });
      const saved = new Promise((resolve, reject) => {
        let name;
        session.on('Browser.downloadWillBegin', event => { name = event.suggestedFilename; });
        session.on('Browser.downloadProgress', event => {
          if (event.state === 'completed') resolve({ name, guid: event.guid });
          if (event.state === 'canceled') reject(new Error('download failed: canceled'));
        });
        refused = response => {
          if (response.request().isNavigationRequest() && response.status() >= 400) {
            reject(new Error(`no download: ${response.status()} ${response.statusText()}`));
          }
        };
        page.on('response', refused);
      });
      saved.catch(() => {}); // looked at below, unless the element is missing
      const element = await this.#find(selector, timeout);
      const [{ name, guid }] = await Promise.all([within(timeout, saved, 'download'), element.click()]);
      return { value: { name, size: (await stat(join(folder, guid))).size } };
    } finally {
      page.off('response', refused);
      await session.detach().catch(() => {});
      await rm(folder, { recursive: true, force: true });
    }
  }

  async frame({ selector, inner = 'body' }, timeout) {
    const element = await this.#page.waitForSelector(selector, { timeout });
    const frame = await element.contentFrame();
    const found = await frame.waitForSelector(inner, { timeout });
    return { value: await found.evaluate(e => e.innerText) };
  }

  async text({ selector }, timeout) {
    const element = await this.#page.waitForSelector(selector, { timeout });
    return { value: await element.evaluate(e => e.innerText) };
  }

  async ua() { return { value: await this.#page.evaluate('navigator.userAgent') }; }
  async eval({ expr }) { return { value: await this.#page.evaluate(expr) }; }
  async screenshot() { return { value: (await this.#page.screenshot()).length }; }
  async wait({ selector }, timeout) { await this.#find(selector, timeout); }

  async routeBlock({ pattern }) {
    const page = this.#page;
    const patterns = this.#blocked.get(page);
    if (patterns) return void patterns.push(pattern);
    const list = [pattern];
    this.#blocked.set(page, list);
    await page.setRequestInterception(true);
    page.on('request', request => {
      if (list.some(p => request.url().includes(p))) request.abort('blockedbyclient');
      else request.continue();
    });
  }

  async end() {
    while (this.#open.length) await this.close();
    await this.#browser.disconnect();
  }
}

process.exitCode = await main(Client.connect);
