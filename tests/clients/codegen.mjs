// Runs GraphQL Code Generator's client preset with the documented configuration, and compiles an
// application that uses the generated code with TypeScript.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { blocks } from "./page.mjs";

function run(program, ...given) {
  const { status, stdout, stderr } = spawnSync(`../node_modules/.bin/${program}`, given, {
    cwd: "codegen",
    encoding: "utf8",
  });
  assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
}

rmSync("codegen", { recursive: true, force: true });
mkdirSync("codegen/src", { recursive: true });
const schema = await fetch(new URL("/schema.graphql", process.argv[2]));
writeFileSync("codegen/schema.graphql", await schema.text());
const [config] = blocks("TypeScript", "ts");
writeFileSync("codegen/codegen.ts", config);
copyFileSync("app.ts", "codegen/src/app.ts");
run("graphql-codegen", "--config", "codegen.ts");
const compiler = {
  strict: true,
  noEmit: true,
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
  types: [],
};
writeFileSync(
  "codegen/tsconfig.json",
  JSON.stringify({ compilerOptions: compiler, include: ["src"] }),
);
run("tsc", "--project", ".");
