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
// A small buffer keeps all of the pool that it is a part of, such as the protocol names of each TLS connection: pools
// of 64 KiB, Node's default, were 25 of 115 MiB with 12 clusters.
Buffer.poolSize = 8 * 1024;
const { bundled, keepCompiled } = await import("./bundled.js");
keepCompiled(process.env);
await import(bundled("main") ?? "./main.ts");
