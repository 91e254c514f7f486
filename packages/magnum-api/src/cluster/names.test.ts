import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { createIds } from "../state/ids.ts";
import { objectNameOf, poolNameOf } from "./names.ts";

test("objects of clusters and node groups that are made in one moment have names of their own", () => {
  const ids = createIds(new VirtualClock());
  const uuids = Array.from({ length: 200 }, ids);
  expect(new Set(uuids.map((uuid) => objectNameOf("web", uuid))).size).toBe(200);
  expect(new Set(uuids.map((uuid) => poolNameOf("web", { uuid, isDefault: false }))).size).toBe(200);
});

test.each([
  ["Web 1", "web-1-0123456789"],
  ["9-", "cluster-0123456789"],
  ["a".repeat(40), `${"a".repeat(20)}-0123456789`],
])("the objects of cluster %s are named %s", (name, expected) => {
  expect(objectNameOf(name, "01a22193-0000-7000-8000-ab0123456789")).toBe(expected);
});
