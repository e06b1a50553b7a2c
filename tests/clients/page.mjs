// Extracts the code of the pages in docs/, so that the tests run it.
import { readFileSync } from "node:fs";

/** The code blocks in this language below this heading of a page. */
export function blocks(heading, language, page = "clients.md") {
  const section = readFileSync(page, "utf8").split(`\n## ${heading}\n`)[1].split("\n## ")[0];
  const found = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return found.filter(([, given]) => given === language).map(([, , code]) => code);
}
