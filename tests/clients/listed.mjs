// Listed operations: the manifests that the tools of Apollo, Relay and GraphQL Code Generator write, and clients
// that send the ids, with a server that allows no others.
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { generatePersistedQueryIdsFromManifest } from "@apollo/persisted-query-lists";
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { plain } from "./ask.mjs";
import { blocks } from "./page.mjs";

const [apolloLink] = blocks("Listed operations", "js");
const [, relayConfig] = blocks("Listed operations", "json");
const [codegenBody] = blocks("Listed operations", "ts");
const FIELDS = `document(id: $id, collection: "notes") { id value(path: "/title") }`;
const variables = { id: "apples" };
const title = { document: { id: "notes/apples#", value: "On apples" } };

rmSync("listed", { recursive: true, force: true });
for (const folder of ["apollo", "relay/__generated__", "codegen"]) {
  mkdirSync(`listed/${folder}`, { recursive: true });
}
const schema = execFileSync(process.env.PHYLLO, ["schema"]);
const run = (cwd, program, ...given) =>
  execFileSync(resolve(`node_modules/.bin/${program}`), given, { cwd, stdio: "pipe" });

// Apollo's tool
const apolloText = `query Title($id: ID!) { ${FIELDS} }`;
writeFileSync("listed/apollo/title.js", `import { gql } from "@apollo/client";\ngql\`${apolloText}\`;\n`);
writeFileSync(
  "listed/apollo/persisted-query-manifest.config.json",
  JSON.stringify({ documents: ["*.js"] }),
);
run("listed/apollo", "generate-persisted-query-manifest");
const apolloManifest = resolve("listed/apollo/persisted-query-manifest.json");

// Relay's compiler
const relay = {
  src: ".",
  language: "javascript",
  schema: "./schema.graphql",
  artifactDirectory: "./__generated__",
  eagerEsModules: false,
  ...JSON.parse(relayConfig),
};
writeFileSync("listed/relay/relay.config.json", JSON.stringify(relay));
writeFileSync("listed/relay/schema.graphql", schema);
writeFileSync("listed/relay/persisted_queries.json", "{}");
writeFileSync(
  "listed/relay/notes.js",
  `import { graphql } from "relay-runtime";
   graphql\`query notesListedQuery($id: ID!) { ${FIELDS} }\`;
   graphql\`subscription notesListedSubscription($id: ID!) { ${FIELDS} }\`;`,
);
run("listed/relay", "relay-compiler", "relay.config.json");
writeFileSync("listed/relay/package.json", '{ "type": "commonjs" }');
const relayManifest = resolve("listed/relay/persisted_queries.json");

// GraphQL Code Generator
writeFileSync("listed/codegen/schema.graphql", schema);
writeFileSync(
  "listed/codegen/title.ts",
  `import { graphql } from "./gql";\nexport const title = graphql(\`query Listed($id: ID!) { ${FIELDS} }\`);\n`,
);
writeFileSync(
  "listed/codegen/codegen.ts",
  `export default {
     schema: "schema.graphql",
     documents: ["title.ts"],
     generates: { "gql/": { preset: "client", presetConfig: { persistedDocuments: true } } },
   };`,
);
run("listed/codegen", "graphql-codegen", "--config", "codegen.ts");
await build({
  entryPoints: ["listed/codegen/title.ts"],
  outfile: "listed/codegen/title.mjs",
  bundle: true,
  format: "esm",
  logLevel: "silent",
});
const { title: document } = await import(resolve("listed/codegen/title.mjs"));
const codegenManifest = resolve("listed/codegen/gql/persisted-documents.json");

// The server
const store = mkdtempSync(join(tmpdir(), "phyllo-listed-"));
const imported = ["import", "notes.ndjson", "--collection", "notes", "--store", store];
execFileSync(process.env.PHYLLO, imported, { stdio: "pipe" });
const manifests = [apolloManifest, relayManifest, codegenManifest];
const flags = manifests.flatMap((file) => ["--operations", file]);
const server = spawn(
  process.env.PHYLLO,
  ["serve", "--store", store, "--listen", "127.0.0.1:0", "--operations-only", ...flags],
  { stdio: ["ignore", "pipe", "pipe"] },
);
let log = "";
server.stderr.on("data", (data) => (log += data));
const started = await new Promise((resolve, reject) => {
  server.stdout.once("data", (data) => resolve(String(data)));
  server.once("exit", () => reject(new Error(log)));
});
const uri = `${started.match(/http:\S+\//)[0]}graphql`;

try {
  assert.match(log, /4 operations are listed/);
  const post = async (body) => {
    const headers = { "content-type": "application/json" };
    return (await fetch(uri, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  const refused = await post({ query: apolloText, variables });
  assert.equal(refused.errors[0].extensions.code, "FORBIDDEN");

  // Apollo Client, with the documented link
  copyFileSync(apolloManifest, "persisted-query-manifest.json");
  const code = apolloLink.replace('import("./persisted-query-manifest.json", { with: { type: "json" } })', "manifest()");
  assert.notEqual(code, apolloLink);
  const names = ["PersistedQueryLink", "generatePersistedQueryIdsFromManifest", "HttpLink", "uri", "manifest"];
  const link = new Function(...names, `${code}; return link;`)(
    PersistedQueryLink,
    generatePersistedQueryIdsFromManifest,
    HttpLink,
    uri,
    async () => JSON.parse(readFileSync("persisted-query-manifest.json", "utf8")),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { data } = await client.query({ query: gql(apolloText), variables });
  assert.deepEqual(plain(data), title);
  client.stop();

  // What Relay compiled
  const require = createRequire(resolve("listed/relay/notes.js"));
  const idOf = (name) => {
    const { params } = require(`./__generated__/${name}.graphql.js`);
    assert.equal(params.text, null);
    return params.id;
  };
  const answer = await post({ documentId: idOf("notesListedQuery"), variables });
  assert.deepEqual(answer, { data: title });
  const url = uri.replace("http", "ws");
  const socket = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
  const documentId = idOf("notesListedSubscription");
  for await (const result of socket.iterate({ query: "", documentId, variables })) {
    assert.deepEqual(result, { data: title });
    break;
  }
  await socket.dispose();

  // What GraphQL Code Generator made, with the documented body
  const body = new Function("document", "variables", `${codegenBody}; return body;`);
  assert.deepEqual(await post(body(document, variables)), { data: title });
} finally {
  server.kill("SIGTERM");
  rmSync(store, { recursive: true, force: true });
}
