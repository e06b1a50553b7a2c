// Runs the React program of docs/live.md in two pages of Chromium, and compares what each of them
// received from the server with what changed.
import { build } from "esbuild";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { chromium } from "playwright-core";
import { ask } from "./ask.mjs";
import { blocks } from "./page.mjs";

const [, , url] = process.argv;
const [code, ...others] = blocks("A value on a page", "jsx", "live.md");
assert.deepEqual(others, []);

/** The origin that docs/live.md allows. The browser is told the port on which this script serves it. */
const ORIGIN = "http://localhost:5173";
const [commands] = blocks("A value on a page", "sh", "live.md");
assert(commands.includes(`--cors-origin ${ORIGIN}\n`));

/** A text in the document that no page may receive, in a part that is large. */
const CANARY = "canary-in-another-part";

const bundled = await build({
  stdin: { contents: code.replaceAll("127.0.0.1:8080", new URL(url).host), loader: "jsx", resolveDir: "." },
  bundle: true,
  write: false,
  format: "esm",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
});
const files = {
  "/": ["text/html", '<!doctype html><div id="root"></div><script type="module" src="/app.js"></script>'],
  "/app.js": ["text/javascript", bundled.outputFiles[0].text],
};

const server = createServer(({ url: path }, response) => {
  const [type, body] = files[path] ?? ["text/plain", ""];
  response.writeHead(body ? 200 : 404, { "content-type": type }).end(body);
});
await once(server.listen(0, "127.0.0.1"), "listening");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    `--host-resolver-rules=MAP ${new URL(ORIGIN).host} 127.0.0.1:${server.address().port}`,
  ],
});
const context = await browser.newContext();

/** Opens the page. `frames` are the texts that its WebSocket received, `bodies` those of HTTP. */
async function open() {
  const page = await context.newPage();
  const frames = [];
  const bodies = [];
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  network.on("Network.webSocketFrameReceived", ({ response }) => {
    // Operation code 1: a text.
    if (response.opcode === 1) frames.push(response.payloadData);
  });
  page.on("response", (response) => {
    if (response.url() === url && response.request().method() === "POST") bodies.push(response.text());
  });
  await page.goto(`${ORIGIN}/`);
  const shows = (area) => page.locator("output", { hasText: new RegExp(`^${area}$`) }).waitFor({ timeout: 20_000 });
  return { page, shows, frames, bodies, problems };
}

const replace = (path, document) =>
  ask(
    url,
    `mutation ($path: Path, $document: JSON) {
      replaceDocument(id: "FRA", collection: "countries", path: $path, document: $document) { id }
    }`,
    { path, document },
  );

const large = () => Array.from({ length: 5_000 }, (_, n) => `${CANARY} ${n}`);
await replace("", { area: 551_695, rest: large() });

const writer = await open();
const reader = await open();
await Promise.all([writer, reader].map(({ shows }) => shows(551_695)));
// Nothing is sent of a commit elsewhere in the document.
await replace("/rest", [...large(), "one more"]);

await writer.page.getByLabel("New area").fill("551696.5");
await writer.page.getByRole("button", { name: "Save" }).click();
await Promise.all([writer, reader].map(({ shows }) => shows(551_696.5)));
await replace("/area", 7);
await Promise.all([writer, reader].map(({ shows }) => shows(7)));

for (const { frames, problems } of [writer, reader]) {
  assert.deepEqual(problems, []);
  const [{ type }, ...messages] = frames.map((text) => JSON.parse(text));
  assert.equal(type, "connection_ack");
  const { id } = messages[0];
  const sent = [551_695, 551_696.5, 7].map((value) => {
    const document = { __typename: "Subdocument", id: "countries/FRA#/area", value };
    return { type: "next", id, payload: { data: { document } } };
  });
  assert.deepEqual(messages, sent);
  const bytes = frames.reduce((bytes, text) => bytes + text.length, 0);
  assert(bytes < 1_000, `${bytes} bytes`);
}
assert.equal((await Promise.all(reader.bodies)).length, 0, "the reader sends no other request");
const [answer, ...more] = await Promise.all(writer.bodies);
assert.deepEqual(JSON.parse(answer), { data: { replaceDocument: { __typename: "Document", id: "countries/FRA" } } });
assert.deepEqual(more, []);
const received = [writer, reader].flatMap(({ frames }) => frames).join();
assert(!received.includes(CANARY));
await browser.close();
server.close();
