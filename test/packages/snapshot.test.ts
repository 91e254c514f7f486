/** The snapshot that an install leaves, from which `causeway apiserver` starts. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

test("the modules of the API server can be held in a snapshot of Node", () => {
  const script = resolve(import.meta.dirname, "../../scripts/bundle.ts");
  const { npm_lifecycle_event: _, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8", env });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
