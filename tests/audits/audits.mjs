// Runs every server audit of graphql-http against the given URL. Prints the number of audits and
// exits with 1 if any of them fails, including SHOULD and MAY.
import { serverAudits } from 'graphql-http';

const [, , url] = process.argv;
const results = [];
for (const audit of serverAudits({ url })) {
  results.push(await audit.fn());
}
for (const { id, name, status, reason } of results) {
  if (status !== 'ok') console.error(`${status}: ${id} ${name}: ${reason}`);
}
console.log(results.length);
process.exit(results.every(({ status }) => status === 'ok') ? 0 : 1);
