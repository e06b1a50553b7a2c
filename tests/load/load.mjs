// A load of mixed traffic on a running server.
//
//     node load.mjs http://127.0.0.1:8080 SECONDS
//
// Fills the collection `shop` of an empty store, sends every kind of request for the time given, and
// prints what came of it as one line of JSON.

import autocannon from 'autocannon';

const DOCUMENTS = 1_000;
const CONNECTIONS = 24;
const COLOURS = ['amber', 'black', 'coral', 'denim', 'ebony'];

const [base, seconds] = process.argv.slice(2);
const counts = { acknowledged: 0, refused: [] };

const product = (id) => ({
  name: `Product ${id}`,
  colour: COLOURS[id % COLOURS.length],
  price: id / 4,
  stock: { left: 100, sold: 0 },
  tags: [`t${id % 7}`, `t${id % 11}`],
  sizes: Array.from({ length: 8 }, (_, size) => ({ size, shelf: `${id}-${size}` })),
});

async function ask(query, variables) {
  const response = await fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

async function fill() {
  await ask(`mutation {
    a: createIndex(collection: "shop", name: "colour_price", on: ["$.colour", "$.price"]) { state }
    b: createIndex(collection: "shop", name: "tags", on: ["$.tags[*]"]) { state }
    insertDocument(collection: "counters", id: "all", document: 0) { key }
  }`);
  for (let first = 0; first < DOCUMENTS; first += 100) {
    const ids = Array.from({ length: 100 }, (_, at) => first + at);
    const fields = ids.map((id) => `i${id}: insertDocument(collection: "shop", id: ${id}, document: $d${id}) { key }`);
    const variables = Object.fromEntries(ids.map((id) => [`d${id}`, product(id)]));
    const declared = ids.map((id) => `$d${id}: JSON!`);
    await ask(`mutation(${declared}) { ${fields.join(' ')} }`, variables);
  }
}

const any = (count) => Math.floor(Math.random() * count);

/** Every kind of request: a query, and variables made anew each time. */
const KINDS = [
  ['query($id: ID!) { document(collection: "shop", id: $id) { value(path: "/name") } }'],
  ['query($id: ID!) { document(collection: "shop", id: $id) { version value } }'],
  ['query($id: ID!) { document(collection: "shop", id: $id) { children(first: 3) { nodes { path kind } pageInfo { endCursor } } } }'],
  ['query($id: ID!) { document(collection: "shop", id: $id) { select(query: "$.sizes[?@.size > 4].shelf") { path value } } }'],
  [
    'query($colour: JSON) { documents(collection: "shop", where: {at: "$.colour", eq: $colour}, orderBy: {by: "$.price"}, first: 10) { nodes { key value(path: "/price") } plan { index } } }',
    () => ({ colour: COLOURS[any(COLOURS.length)] }),
  ],
  [
    'query($tag: JSON) { documents(collection: "shop", where: {at: "$.tags[*]", eq: $tag, not: {at: "$.colour", eq: "black"}}, last: 5) { nodes { key } } }',
    () => ({ tag: `t${any(7)}` }),
  ],
  [
    'query($of: [_Any!]!) { _entities(representations: $of) { ... on Document { value(path: "/name") } } }',
    () => ({ of: Array.from({ length: 20 }, () => ({ __typename: 'Document', collection: 'shop', key: any(DOCUMENTS + 5) })) }),
  ],
  ['mutation($id: ID!, $value: JSON) { replaceDocument(collection: "shop", id: $id, path: "/colour", document: $value) { version } }', () => ({ id: any(DOCUMENTS), value: COLOURS[any(COLOURS.length)] })],
  ['mutation($id: ID!) { mergeDocument(collection: "shop", id: $id, patch: {stock: {left: 99, seen: null}, note: "merged"}) { key } }'],
  ['mutation($id: ID!) { patchDocument(collection: "shop", id: $id, patch: [{op: "add", path: "/tags/-", value: "new"}, {op: "remove", path: "/tags/2"}]) { value(path: "/tags") } }'],
  ['mutation($id: ID!) { incrementDocument(collection: "counters", id: "all") { value } a: incrementDocument(collection: "shop", id: $id, path: "/stock/sold") { key } }'],
  ['mutation($id: ID!) { insertDocument(collection: "moments", id: $id, document: {here: true}) { key } deleteDocument(collection: "moments", id: $id) { deleted } }', () => ({ id: `m${Math.random()}` })],
  ['mutation($tag: JSON) { updateDocuments(collection: "shop", where: {all: [{at: "$.tags[*]", eq: $tag}, {at: "$.price", lt: 10}]}, set: [{at: "$.stock.left", value: 98}]) { matched } }', () => ({ tag: `t${any(11)}` })],
  ['{ collections { name count indexes { name state } } }', () => ({})],
];
const COUNTER = KINDS.findIndex(([query]) => query.includes('"counters"'));

const requests = KINDS.map(([query, variables = () => ({ id: any(DOCUMENTS) })], kind) => ({
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json' },
  setupRequest: (request) => ({ ...request, body: JSON.stringify({ query, variables: variables() }) }),
  onResponse: (status, body) => {
    if (status !== 200 || !body.startsWith('{"data"') || body.includes('"errors"')) {
      counts.refused.push(`${status}: ${body.slice(0, 300)} to ${query}`);
    } else if (kind === COUNTER) {
      counts.acknowledged += 1;
    }
  },
}));

await fill();
const result = await autocannon({ url: base, connections: CONNECTIONS, duration: Number(seconds), requests });
const counter = await ask(`{ document(collection: "counters", id: "all") { value } }`);
console.log(JSON.stringify({
  answered: result.requests.total,
  per_second: result.requests.average,
  p50_ms: result.latency.p50,
  p99_ms: result.latency.p99,
  errors: result.errors + result.timeouts,
  refused: counts.refused.length,
  first_refused: counts.refused[0] ?? null,
  connections: CONNECTIONS,
  acknowledged: counts.acknowledged,
  counted: counter.document.value,
}));
