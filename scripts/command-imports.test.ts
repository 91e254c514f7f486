import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkCommandImports } from "./command-imports.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "commands-"));
  mkdirSync(join(root, "a"));
});
afterEach(() => rmSync(root, { recursive: true }));

function findings(command: string, options = ""): string[] {
  writeFileSync(join(root, "a/command.ts"), command);
  writeFileSync(join(root, "options.ts"), options);
  return checkCommandImports(root, ".");
}

test("a command that loads commander, options and types before it runs is accepted", () => {
  const command = [
    'import { Command } from "@commander-js/extra-typings";',
    'import { verbose } from "../options.ts";',
    'import type { Cloud } from "@causeway/openstack";',
    'export const run = () => import("@causeway/apiserver");',
  ].join("\n");
  expect(findings(command, 'import { env } from "node:process";')).toEqual([]);
});

test("a command that loads a package before it runs is refused, also when its options do", () => {
  const own = 'import { connect } from "@causeway/openstack";\nimport { verbose } from "../options.ts";';
  expect(findings(own, 'export { version } from "@causeway/kubernetes";')).toEqual([
    'a/command.ts: a command loads "@causeway/openstack" before it runs; import it in its action.ts',
    'options.ts: a command loads "@causeway/kubernetes" before it runs; import it in its action.ts',
  ]);
});
