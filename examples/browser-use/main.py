"""browser-use through the governor.

The only line that differs from any other browser-use program is `cdp_url`. The
model is scripted and needs no network: it plays the steps below in order and
looks at the page only to find the number of the link it wants to click. What
the agent is told after each step is printed as it stands, because that is what
a real model would read.

The site is a small local one that writes down every request it gets, so the
end of this program shows what really left the browser.
"""

import asyncio
import os
import re
import sys
import tempfile
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

config = tempfile.TemporaryDirectory(prefix='browser-use-config-')  # gone at exit

# browser-use reads these when it is imported: nothing may leave this machine.
os.environ.update(
    ANONYMIZED_TELEMETRY='false',
    BROWSER_USE_CLOUD_SYNC='false',
    BROWSER_USE_VERSION_CHECK='false',
    BROWSER_USE_CLOUD_HINTS='false',
    BROWSER_USE_CONFIG_DIR=config.name,
)
os.environ.setdefault('BROWSER_USE_LOGGING_LEVEL', 'result')

from browser_use import Agent, Browser  # noqa: E402
from browser_use.llm.views import ChatInvokeCompletion  # noqa: E402

PAGES = {
    '/': '<title>Front page</title><h1>Front page</h1>'
    '<a id=article href=/article>Article</a> <a id=inbox href=/private/inbox>Inbox</a>',
    '/article': '<title>An article</title><h1>An article</h1>',
    '/private/inbox': '<title>Inbox</title><h1>Nobody should read this</h1>',
}


class Site(BaseHTTPRequestHandler):
    hits: Counter = Counter()

    def do_GET(self):
        Site.hits[self.path] += 1
        if self.path == '/robots.txt':
            return self.answer(200, 'text/plain', 'User-agent: *\nDisallow: /private\n')
        body = PAGES.get(self.path)
        self.answer(200 if body else 404, 'text/html', body or '<title>Not found</title>')

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class ScriptedModel:
    """A chat model that answers with the next step of a script."""

    _verified_api_keys = True
    model = model_name = name = 'scripted'
    provider = 'none'

    def __init__(self, steps):
        self.steps = iter(steps)
        self.pages = []  # the page as the model reads it before each step

    async def ainvoke(self, messages, output_format=None, **_):
        name, argument = step = next(self.steps)
        # Messages about the plan may stand after the one with the page.
        page = re.findall(r'\[Start of page\]\n(.*?)\n\[End of page\]', '\n'.join(m.text for m in messages), re.S)
        self.pages.append(page[-1] if page else '')
        action = {name: {'index': self.link(argument)} if name == 'click' else argument}
        completion = output_format.model_validate(
            {'evaluation_previous_goal': '', 'memory': '', 'next_goal': str(step), 'thinking': '', 'action': [action]}
        )
        return ChatInvokeCompletion(completion=completion, usage=None)

    def link(self, text):
        """The number browser-use gave to the link with this text."""
        found = re.search(r'\[(\d+)\]<a[^>]*/>\s*' + re.escape(text), self.pages[-1])
        if not found:
            raise ValueError(f'no link {text!r} on the page: {self.pages[-1]!r}')
        return int(found.group(1))


async def main() -> int:
    endpoint = os.environ.get('BROWSER_GOVERNOR_CDP_URL')
    if not endpoint:
        print(
            'BROWSER_GOVERNOR_CDP_URL is not set; start me with: '
            'browser-governor run -- python examples/browser-use/main.py',
            file=sys.stderr,
        )
        return 2

    site = ThreadingHTTPServer(('127.0.0.1', 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    base = f'http://127.0.0.1:{site.server_port}'
    steps = [
        ('navigate', {'url': f'{base}/'}),
        ('click', 'Article'),
        ('navigate', {'url': f'{base}/private/inbox'}),
        ('navigate', {'url': f'{base}/'}),
        ('click', 'Inbox'),
        ('done', {'text': 'the end of the script', 'success': True}),
    ]

    model = ScriptedModel(steps)
    browser = Browser(cdp_url=endpoint)
    agent = Agent(
        task='Follow the script.',
        llm=model,
        browser=browser,
        use_vision=False,
        use_judge=False,
        directly_open_url=False,
    )
    history = await agent.run(max_steps=len(steps) + 2)
    await browser.stop()
    site.shutdown()

    for number, (step, item) in enumerate(zip(steps, history.history), 1):
        print(f'{number}. {step[0]} {step[1]}')
        for result in item.result:
            print(f'   {(result.error or result.extracted_content or "").splitlines()[0]}')
        # What a click led to is what the model reads before the next step.
        if step[0] == 'click' and number < len(model.pages):
            print(f'   the model reads: {model.pages[number]!r}')

    print('What the server counted:')
    for path, count in Site.hits.items():
        print(f'   {count:3} {path}')

    leaked = [path for path in Site.hits if path.startswith('/private')]
    if leaked:
        print(f'FAILED: the server saw {", ".join(leaked)}', file=sys.stderr)
        return 1
    if len(history.history) < len(steps):
        print('FAILED: the agent stopped early', file=sys.stderr)
        return 1
    if not any(result.error for result in history.history[2].result):
        print('FAILED: the disallowed navigation was not refused', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(asyncio.run(main()))
