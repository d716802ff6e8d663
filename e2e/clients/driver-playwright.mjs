// The steps of steps.mjs by Playwright, connected over CDP.

import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { main } from './steps.mjs';

const answer = response => response && { status: response.status(), statusText: response.statusText() };

class Client {
  name = 'playwright';
  #browser;
  #open = []; // {page, context}: context only where this client made it; the last is current

  static async connect(endpoint) {
    const client = new Client();
    client.#browser = await chromium.connectOverCDP(endpoint);
    const context = client.#browser.contexts()[0];
    client.#open.push({ page: await context.newPage() });
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
    this.#open.push({ page: await this.#page.context().newPage() });
    return this.goto({ url }, timeout);
  }

  async context({ url }, timeout) {
    const context = await this.#browser.newContext();
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

  async #acting(act, wait, timeout) {
    if (!wait) return void (await act());
    const [response] = await Promise.all([this.#page.waitForNavigation({ timeout }), act()]);
    return { response: answer(response) };
  }

  click({ selector, wait }, timeout) {
    return this.#acting(() => this.#page.click(selector, { timeout }), wait, timeout);
  }

  press({ selector, key, wait }, timeout) {
    return this.#acting(() => this.#page.press(selector, key, { timeout }), wait, timeout);
  }

  async type({ selector, text }, timeout) {
    await this.#page.locator(selector).pressSequentially(text, { timeout });
  }

  async select({ selector, value }, timeout) {
    return { value: await this.#page.selectOption(selector, value, { timeout }) };
  }

  async upload({ selector, file }, timeout) {
    await this.#page.setInputFiles(selector, file, { timeout });
    return { value: await this.#page.$eval(selector, input => input.files[0]?.name) };
  }

  async popup({ selector }, timeout) {
    const [popup] = await Promise.all([
      this.#page.waitForEvent('popup', { timeout }),
      this.#page.click(selector, { timeout }),
    ]);
    this.#open.push({ page: popup });
    await popup.waitForLoadState('load', { timeout });
    return { value: popup.url() };
  }

  async dialog({ selector }, timeout) {
    const [dialog] = await Promise.all([
      this.#page.waitForEvent('dialog', { timeout }).then(async d => {
        const message = d.message();
        await d.accept();
        return message;
      }),
      this.#page.click(selector, { timeout }),
    ]);
    return { value: dialog };
  }

  async download({ selector }, timeout) {
    const page = this.#page;
    const refused = page.waitForResponse(r => r.request().isNavigationRequest() && r.status() >= 400, { timeout });
    refused.catch(() => {}); // its time-out says nothing: the download won
    const [first] = await Promise.all([
      Promise.race([page.waitForEvent('download', { timeout }), refused]),
      page.click(selector, { timeout }),
    ]);
    if (typeof first.suggestedFilename !== 'function') {
      throw new Error(`no download: ${first.status()} ${first.statusText()}`);
    }
    const failure = await first.failure();
    if (failure) throw new Error(`download failed: ${failure}`);
    return { value: { name: first.suggestedFilename(), size: (await readFile(await first.path())).length } };
  }

  async frame({ selector, inner = 'body' }, timeout) {
    return { value: await this.#page.frameLocator(selector).locator(inner).innerText({ timeout }) };
  }

  async text({ selector }, timeout) {
    return { value: await this.#page.locator(selector).first().innerText({ timeout }) };
  }

  async ua() { return { value: await this.#page.evaluate('navigator.userAgent') }; }
  async eval({ expr }) { return { value: await this.#page.evaluate(expr) }; }
  async screenshot(_, timeout) { return { value: (await this.#page.screenshot({ timeout })).length }; }
  async wait({ selector }, timeout) { await this.#page.waitForSelector(selector, { timeout }); }

  async routeBlock({ pattern }) {
    await this.#page.route(url => url.href.includes(pattern), route => route.abort('blockedbyclient'));
  }

  async end() {
    while (this.#open.length) await this.close();
    await this.#browser.close(); // over CDP this disconnects; the browser stays
  }
}

process.exitCode = await main(Client.connect);
