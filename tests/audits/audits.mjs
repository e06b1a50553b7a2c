// Every audit that graphql-http has for a server, on the one whose URL is given. Prints how many
// there were; exits with 1 if one of them, a SHOULD or a MAY included, is not met.
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
