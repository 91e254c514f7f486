import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { delaysOf } from "./delays.ts";

const folder = resolve(import.meta.dirname, "..");
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => readFileSync(resolve(folder, file), "utf8"))
  .join("\n");

/** Operations without a recorded delay: the recorded OpenStack has no machines for them. Tests give them one. */
const NOT_RECORDED = [
  "backup.create",
  "backup.delete",
  "backup.restore",
  "image.import",
  // Every request, whatever it is about.
  "request",
  "share.access",
  "share.create",
  "share.delete",
  "share.extend",
  "share.snapshot",
];

test("every operation that waits has a recorded delay, or is known to have none", () => {
  const waits = new Set([...sources.matchAll(/\bdelay\("([\w.]+)"\)/g)].map(([, name]) => name!));
  expect(waits.size).toBeGreaterThan(10);
  const recorded = delaysOf("real");
  expect([...waits].filter((name) => !(name in recorded)).toSorted()).toEqual(NOT_RECORDED);
});
