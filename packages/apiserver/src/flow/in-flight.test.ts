import { expect, test } from "vitest";
import { BytesInFlight } from "./in-flight.ts";

test("bytes in flight are bounded for each cluster, and given back once", () => {
  const bytes = new BytesInFlight({ perCluster: 10, total: 100 });
  const first = bytes.take("a", 6);
  expect(bytes.take("a", 6)).toBeUndefined();
  expect(bytes.take("b", 6)).toBeDefined();
  first?.();
  first?.();
  expect(bytes.heldBy("a")).toBe(0);
  expect(bytes.take("a", 10)).toBeDefined();
});

test("tenants leave a quarter of all bytes to the management cluster", () => {
  const bytes = new BytesInFlight({ perCluster: 100, total: 100 });
  expect(bytes.take("a", 75)).toBeDefined();
  expect(bytes.take("b", 1)).toBeUndefined();
  expect(bytes.take("", 25)).toBeDefined();
  expect(bytes.take("", 1)).toBeUndefined();
});

test("requests that cannot be refused count as in flight, too", () => {
  const bytes = new BytesInFlight({ perCluster: 10, total: 100 });
  const written = bytes.hold("a", 20);
  expect(bytes.take("a", 1)).toBeUndefined();
  written();
  expect(bytes.take("a", 1)).toBeDefined();
});

test("requests that one cluster has beyond its share are not charged to others", () => {
  const bytes = new BytesInFlight({ perCluster: 10, total: 40 });
  const written = Array.from({ length: 20 }, () => bytes.hold("a", 10));
  expect([bytes.isFull("a"), bytes.isFull("b")]).toEqual([true, false]);
  const other = bytes.take("b", 10);
  expect(other).toBeDefined();
  for (const release of written) release();
  other?.();
  expect(bytes.isFull("a")).toBe(false);
  // All counted bytes are released.
  expect(["a", "b", "c"].map((name) => bytes.take(name, 10) !== undefined)).toEqual([true, true, true]);
  expect(bytes.take("d", 10)).toBeUndefined();
});
