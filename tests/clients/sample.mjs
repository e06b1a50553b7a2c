// The first screen of docs/types.md on the sample data: their types become TypeScript without configuration.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blocks } from "./page.mjs";

const store = mkdtempSync(join(tmpdir(), "phyllo-sample-"));
function run(program, ...given) {
  const { status, stdout, stderr } = spawnSync(program, given, { cwd: "sample", encoding: "utf8" });
  assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
  return stdout;
}

rmSync("sample", { recursive: true, force: true });
mkdirSync("sample/src", { recursive: true });
run(process.env.PHYLLO, "sample", "--store", store);
writeFileSync("sample/schema.graphql", run(process.env.PHYLLO, "schema", "--types", "--store", store));
const [config] = blocks("From documents to TypeScript", "ts", "types.md");
writeFileSync("sample/codegen.ts", config);
const [query] = blocks("From documents to TypeScript", "js", "types.md");
// The comment below the query is the type of its result.
const [, documented] = /^\/\/ (\{.*\})$/m.exec(query);
writeFileSync(
  "sample/src/app.ts",
  `import type { ResultOf } from "@graphql-typed-document-node/core";
import { graphql } from "./gql";
import type { CountryRegion } from "./gql/graphql";
${query}
type Selected = Omit<NonNullable<ResultOf<typeof COUNTRY>["country"]>, "__typename">;
type Without<T> = T extends (infer E)[] ? E[] : T extends object ? { [K in keyof T as K extends "__typename" ? never : K]: Without<T[K]> } : T;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same: Equal<Without<Selected>, Without<${documented}>> = true;
export default same;
`,
);
run("../node_modules/.bin/graphql-codegen", "--config", "codegen.ts");
const compilerOptions = {
  strict: true,
  noEmit: true,
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2023", "dom"],
  types: [],
};
writeFileSync("sample/tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }));
run("../node_modules/.bin/tsc", "--project", ".");
const operation = readFileSync("sample/src/gql/graphql.ts", "utf8")
  .split("\n")
  .find((line) => line.startsWith("export type CountryQuery ="));
assert.doesNotMatch(operation, /\b(unknown|any)\b/);
rmSync(store, { recursive: true });
