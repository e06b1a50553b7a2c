// Queries through Apollo's gateway.
import { ofApollo } from "./gateways.mjs";
import { through } from "./queries.mjs";

await through(ofApollo);
