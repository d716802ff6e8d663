// Runs a script of browser steps for one client library and prints what each
// step saw, one JSON line a step. The drivers beside this file supply the
// client; everything they must do alike stands here.
//
// Input, on stdin: a JSON array of steps, {"do": NAME, …, "timeout": ms}.
//
//   goto url · newtab url · context url · reload · back · forward · close
//   click selector · press selector key · type selector text
//   select selector value · upload selector file
//   popup selector · dialog selector · download selector
//   frame selector [inner] · text selector · title · ua · eval expr
//   screenshot · wait selector · route-block pattern
//
// click and press take "wait": true when they are expected to change the page:
// the step then ends with the navigation and reports its response.
// newtab, context and popup make the new page the current one; close returns
// to the one before. route-block aborts requests whose URL contains pattern.
//
// Output: step 0 is the connection, step n the n-th of the script:
//   {"step","do","ok","value","status","statusText","url","title","error","ms"}
// A step that fails is data, not an end: the next one runs. Exit codes:
// 0 the script ran, 2 the script is wrong, 3 no connection.

export const DEFAULT_TIMEOUT = 30_000; // ms; what both clients use by themselves
const GRACE = 2_000; // ms after a step's own time-out until it is given up here
const LOOK = 2_000; // ms for reading the title after a step; a held page does not answer

const ARGUMENTS = {
  goto: ['url'], newtab: ['url'], context: ['url'],
  reload: [], back: [], forward: [], close: [],
  click: ['selector'], press: ['selector', 'key'], type: ['selector', 'text'],
  select: ['selector', 'value'], upload: ['selector', 'file'],
  popup: ['selector'], dialog: ['selector'], download: ['selector'],
  frame: ['selector'], text: ['selector'], title: [], ua: [], eval: ['expr'],
  screenshot: [], wait: ['selector'], 'route-block': ['pattern'],
};

/** Checks a script; returns what is wrong with it, or ''. */
export function fault(script) {
  if (!Array.isArray(script)) return 'the script is not a JSON array of steps';
  for (const [i, step] of script.entries()) {
    const needs = ARGUMENTS[step?.do];
    if (!needs) return `step ${i + 1}: unknown step ${JSON.stringify(step?.do)}`;
    for (const key of needs) {
      if (typeof step[key] !== 'string') return `step ${i + 1} (${step.do}): needs a string "${key}"`;
    }
    if (step.timeout !== undefined && !(step.timeout > 0)) return `step ${i + 1} (${step.do}): "timeout" is not a positive number`;
  }
  return '';
}

/** Rejects after ms with a text, unless promise settles first. */
export function within(ms, promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no end after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function plain(error) {
  const text = String(error?.message ?? error);
  return text.replace(/\u001b\[[0-9;]*m/g, '').trim();
}

function print(line) {
  process.stdout.write(JSON.stringify(line) + '\n');
}

async function readScript() {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

/**
 * Runs the script on stdin. connect(endpoint) returns a client: an object with
 * one async method per step name ("route-block" is routeBlock), each taking
 * (step, timeout) and returning {value, response}; and url(), currentTitle(), end().
 * A response is {status, statusText} or null.
 */
export async function main(connect) {
  const endpoint = process.env.BROWSER_GOVERNOR_CDP_URL;
  let script;
  try {
    script = await readScript();
  } catch (error) {
    console.error(`the script on stdin is not JSON: ${error.message}`);
    return 2;
  }
  const wrong = fault(script) || (endpoint ? '' : 'BROWSER_GOVERNOR_CDP_URL is not set');
  if (wrong) {
    console.error(wrong);
    return 2;
  }

  const began = performance.now();
  let client;
  try {
    client = await within(DEFAULT_TIMEOUT, connect(endpoint), 'connect');
  } catch (error) {
    print({ step: 0, do: 'connect', ok: false, error: plain(error), ms: since(began) });
    return 3;
  }
  print({ step: 0, do: 'connect', ok: true, value: client.name, ms: since(began) });

  for (const [i, step] of script.entries()) {
    print({ step: i + 1, do: step.do, ...(await run(client, step)) });
  }
  await within(DEFAULT_TIMEOUT, client.end(), 'disconnect').catch(error => console.error(plain(error)));
  return 0;
}

async function run(client, step) {
  const timeout = step.timeout ?? DEFAULT_TIMEOUT;
  const method = step.do === 'route-block' ? 'routeBlock' : step.do;
  const began = performance.now();
  const line = { ok: true };
  try {
    const { value, response } = (await within(timeout + GRACE, client[method](step, timeout), step.do)) ?? {};
    if (value !== undefined) line.value = value;
    if (response) Object.assign(line, { status: response.status, statusText: response.statusText });
  } catch (error) {
    Object.assign(line, { ok: false, error: plain(error) });
  }
  line.ms = since(began);
  line.url = client.url();
  line.title = await within(LOOK, client.currentTitle(), 'title').catch(() => undefined);
  return line;
}

function since(began) {
  return Math.round((performance.now() - began) * 10) / 10;
}
