import { expect, test } from "vitest";
import * as api from "./index.ts";

const listed = new Set<unknown>([...api.allKinds, ...api.magnumKinds, ...api.addonKinds, ...api.operatorKinds]);

/** What `defineKind` returns. */
const isKind = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "plural" in value && "versions" in value && "schema" in value;

test("every kind that the package exports is in a list, so that it is installed and documented", () => {
  const exported = Object.entries(api).filter(([, value]) => isKind(value));
  expect(exported.length).toBeGreaterThanOrEqual(30);
  expect(exported.filter(([, kind]) => !listed.has(kind)).map(([name]) => name)).toEqual([]);
});
