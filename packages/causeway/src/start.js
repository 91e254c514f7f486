#!/usr/bin/env -S node --max-semi-space-size=4
/* The causeway command: main.ts, from the bundle of the install where that is of these sources. */
const OLDEST = 26;

if (Number(process.versions.node.split(".")[0]) < OLDEST) {
  // An older Node cannot read the rest, and would say so in its own words.
  process.stderr.write(
    `causeway needs Node ${OLDEST} or later, and this is Node ${process.versions.node}: put a newer Node first on PATH, or run 'npm ci' in the project, which installs it.\n`,
  );
  process.exit(1);
}
const { bundled, keepCompiled } = await import("./bundled.js");
keepCompiled(process.env);
await import(bundled("main") ?? "./main.ts");
