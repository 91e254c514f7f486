import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { Response } from "../contract/exchange.ts";
import { MAXIMUM_YAML } from "../server/parse-yaml.ts";
import { watchResponse } from "./response.ts";

/** What is recorded of a body in YAML. */
function recorded(body: string, yamlOf?: unknown): string | undefined {
  const made = Object.assign(new EventEmitter(), {
    statusCode: 200,
    yamlOf,
    getHeader: () => "application/yaml",
    flushHeaders: () => {},
    write: () => true,
    end: (_body: string) => {},
  });
  let found: string | undefined;
  watchResponse(made as unknown as Response, {
    keepBody: true,
    started: () => {},
    ended: (outcome) => (found = outcome.body),
  });
  made.end(body);
  return found;
}

test("an answer in YAML is recorded from what it was written from, and not read again", () => {
  expect(recorded("{ this is not YAML", { kind: "ConfigMap", data: { a: "1" } })).toBe(
    '{"kind":"ConfigMap","data":{"a":"1"}}',
  );
});

test("a short list in YAML is recorded as JSON, and one that is longer than a body may be is not read", () => {
  expect(recorded("items:\n- metadata:\n    name: a\nkind: ConfigMapList\n")).toBe(
    '{"items":[{"metadata":{"name":"a"}}],"kind":"ConfigMapList"}',
  );
  expect(recorded(`a: ${"x".repeat(MAXIMUM_YAML)}\n`)).toBeUndefined();
});
