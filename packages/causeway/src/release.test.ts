import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { ownCommit, ownVersion } from "./release.ts";

test("a checkout reports the version of the package and the commit of git", () => {
  const head = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8", cwd: import.meta.dirname }).stdout.trim();
  expect(ownVersion()).toBe(manifest.version);
  expect(ownCommit()).toMatch(new RegExp(`^${head}(-dirty)?$`));
});
