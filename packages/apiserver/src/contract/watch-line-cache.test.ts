import { expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import { WatchLineCache, type Form } from "./watch-line-cache.ts";

const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" } };

test("an event is encoded once for all watches of one form", () => {
  const lines = new WatchLineCache();
  let encodings = 0;
  const form = (name: string, ...depends: readonly unknown[]): Form => ({
    name,
    depends,
    encode: ({ metadata }) => {
      encodings += 1;
      return JSON.stringify({ kind: name, depends, metadata });
    },
  });
  const text = (made: Form): string => lines.of("ADDED", object, made).toString();
  const table = text(form("Table", 1));
  for (let i = 0; i < 1000; i += 1) expect(text(form("Table", 1))).toBe(table);
  expect(encodings).toBe(1);
  expect(table).toBe('{"type":"ADDED","object":{"kind":"Table","depends":[1],"metadata":{"name":"m"}}}\n');
  // Another form, another time, another type: other lines.
  expect(text(form("Metadata"))).toContain('"kind":"Metadata"');
  expect(text(form("Table", 2))).toContain('"depends":[2]');
  expect(lines.of("DELETED", object, form("Table", 2)).toString()).toContain("DELETED");
  expect(lines.of("ADDED", object).toString()).toBe(`{"type":"ADDED","object":${JSON.stringify(object)}}\n`);
  expect(encodings).toBe(4);
});

test("lines of older changes are encoded again, so that they take four megabytes at most", () => {
  const lines = new WatchLineCache();
  const data = "x".repeat(1024 * 1024);
  const objects = Array.from({ length: 5 }, (_, i): KubeObject => ({ ...object, metadata: { name: `m-${i}` } }));
  let encodings = 0;
  const form: Form = {
    name: "Long",
    depends: [],
    encode: ({ metadata }) => {
      encodings += 1;
      return JSON.stringify({ metadata, data });
    },
  };
  const sent = objects.map((each) => lines.of("ADDED", each, form).toString());
  const [first = object, , , , last = object] = objects;
  expect(lines.of("ADDED", last, form).toString()).toBe(sent[4]);
  expect(encodings).toBe(5);
  expect(lines.of("ADDED", first, form).toString()).toBe(sent[0]);
  expect(encodings).toBe(6);
});

test("a line that is kept keeps no more memory than its bytes", () => {
  const line = new WatchLineCache().of("ADDED", { ...object, metadata: { name: "ü" } });
  expect(line.buffer.byteLength).toBe(line.length);
  expect(line.toString()).toContain('"name":"ü"');
});
