// Uses the page of a running server in headless Chromium, as a user would.
//
//     node page.mjs http://127.0.0.1:8080/ ARTIFACTS http://127.0.0.1:8081/ TOKEN READ_ONLY_TOKEN \
//         http://127.0.0.1:8082/ SECRET
//
// The first server has the sample data and a change log. The second one is empty, requires a token, and has
// no change log. The third one is empty, and has the rules of rules.toml and a key set with the secret, in
// base64url. The tokens are those of the last two.
// Screenshots are written to the folder ARTIFACTS.
// CHROMIUM names the browser; the default is /usr/bin/chromium. ONLY=filters,types runs only these parts. SLOWER=4
// slows the page down, so that checks that wait for too little fail.

import assert from 'node:assert/strict';
import { access } from './access.mjs';
import { connection } from './connection.mjs';
import { edits } from './edits.mjs';
import { explore } from './explore.mjs';
import { forbidden } from './forbidden.mjs';
import { filters } from './filters.mjs';
import { graphiql } from './graphiql.mjs';
import { imports } from './import.mjs';
import { start } from './harness.mjs';
import { keyboard } from './keyboard.mjs';
import { live } from './live.mjs';
import { names } from './names.mjs';
import { parts as partsOfDocuments } from './parts.mjs';
import { types } from './types.mjs';

const [base, artifacts, guarded, token, readOnlyToken, ruled, secret] = process.argv.slice(2);
if (!secret) {
  console.error('usage: node page.mjs BASE_URL ARTIFACTS GUARDED_URL TOKEN READ_ONLY_TOKEN RULED_URL SECRET');
  process.exit(2);
}
const tested = await start(base, artifacts);
const { check, complaints } = tested;
/** Explore logs nothing that is not expected. */
const quiet = () =>
  check('Explore logs no errors on the console', () => {
    // Requests on a connection that a test cuts, and requests that the server rejects.
    const expected = /WebSocket connection|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED|status of (400|403)/;
    assert.deepEqual(complaints.splice(0).filter((complaint) => !expected.test(complaint)), []);
  });
const parts = {
  explore: () => explore(tested),
  names: () => names(tested),
  edits: () => edits(tested),
  keyboard: () => keyboard(tested),
  parts: () => partsOfDocuments(tested),
  imports: () => imports(tested),
  filters: () => filters(tested),
  types: () => types(tested),
  live: () => live(tested),
  connection: () => connection(tested),
  forbidden: () => forbidden(tested, { ruled, secret, readOnlyToken }),
  quiet,
  graphiql: () => graphiql(tested, { guarded, token }),
  access: () => access(tested, { guarded, token, readOnlyToken }),
};
const only = process.env.ONLY?.split(',') ?? Object.keys(parts);
for (const name of only) await parts[name]();
await tested.end();
