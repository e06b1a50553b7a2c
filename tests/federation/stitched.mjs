// Queries through The Guild's gateway.
import { ofGuild } from "./gateways.mjs";
import { through } from "./queries.mjs";

await through(ofGuild);
