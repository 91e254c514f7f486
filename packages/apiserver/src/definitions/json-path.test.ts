import { expect, test } from "vitest";
import { columnReader } from "./json-path.ts";

const object = {
  spec: { replicas: 3, list: [{ n: 1 }, { n: 2 }], "a.b": "dotted" },
  metadata: { labels: { "example.com/x": "y" } },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

test.each([
  [".spec.replicas", 3],
  [".spec.list[0].n", 1],
  [".spec.list[*].n", "1,2"],
  [".spec['a.b']", "dotted"],
  [".metadata.labels.example\\.com/x", "y"],
  [".metadata.labels['example\\.com/x']", "y"],
  ['.status.conditions[?(@.type=="Ready")].status', "True"],
  [".status.conditions[?(@.type=='Gone')].status", undefined],
  [".spec.nothing.here", undefined],
])("the JSON path %s reads %s of an object", (path, value) => {
  expect(columnReader(path)(object)).toBe(value);
});
