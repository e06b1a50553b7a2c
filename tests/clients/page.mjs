// Extracts the code of the page about clients, so that the tests run it.
import { readFileSync } from "node:fs";

/** The code blocks in this language below this heading. */
export function blocks(heading, language) {
  const page = readFileSync("clients.md", "utf8");
  const section = page.split(`\n## ${heading}\n`)[1].split("\n## ")[0];
  const found = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return found.filter(([, given]) => given === language).map(([, , code]) => code);
}
