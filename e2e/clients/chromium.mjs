// Starts a plain Chromium with a debugging port, for trying the drivers without
// a governor: what they see then is what a governed run is compared with.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const FLAGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync',
  '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage',
  // With the back-forward cache Chrome drops the clients' sessions on "back" and
  // both libraries wait for an answer that never comes.
  '--disable-features=BackForwardCache',
];

/** Returns {endpoint, stop()}. The program is $CHROME or "chromium". */
export async function startChromium() {
  const profile = await mkdtemp(join(tmpdir(), 'driver-profile-'));
  const child = spawn(process.env.CHROME || 'chromium',
    [...FLAGS, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise(resolve => child.once('exit', resolve));
  const stop = async () => {
    child.kill();
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    return { endpoint: await listening(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function listening(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`chromium ended with ${code} before it listened:\n${said}`)));
    createInterface({ input: child.stderr }).on('line', line => {
      said += line + '\n';
      const found = /DevTools listening on ws:\/\/([^/]+)\//.exec(line);
      if (found) resolve(`http://${found[1]}`);
    });
  });
}
