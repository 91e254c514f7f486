import { Hono } from "hono";
import { expect, test } from "vitest";
import { at } from "../json.ts";
import { mountKeyValues, type KeyValueResource, type KeyValues } from "./key-values.ts";

type Env = { Variables: Record<string, never> };
interface Thing {
  readonly id: string;
  readonly metadata: KeyValues;
}

/** A service with one thing in memory, whose metadata is {a: "1"}. */
function served(more: Partial<KeyValueResource<Env, Thing>> = {}) {
  const things = new Map<string, Thing>([["1", { id: "1", metadata: { a: "1" } }]]);
  const app = new Hono<Env>();
  app.onError((error, c) => c.text(error.message, 400));
  mountKeyValues<Env, Thing>(app, {
    path: "/things/:id/metadata",
    many: "metadata",
    one: "meta",
    given: (_c, body, verb) => at(body, verb === "set" ? "meta" : "metadata") as KeyValues,
    find(c) {
      const thing = things.get(c.req.param("id") ?? "");
      if (!thing) throw new Error("no such thing");
      return thing;
    },
    pairsOf: ({ metadata }) => metadata,
    keep: (_c, { id }, metadata) => void things.set(id, { id, metadata }),
    unknownKey: (c) => new Error(`no key ${c.req.param("key") ?? ""}`),
    ...more,
  });
  return async (method: string, path: string, body?: unknown): Promise<readonly [number, string]> => {
    const answer = await app.request(`/things/1/metadata${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return [answer.status, await answer.text()];
  };
}

test("the kit of key-value pairs adds, replaces, sets and removes pairs", async () => {
  const send = served();
  expect(await send("GET", "")).toEqual([200, '{"metadata":{"a":"1"}}']);
  expect(await send("POST", "", { metadata: { b: "2" } })).toEqual([200, '{"metadata":{"a":"1","b":"2"}}']);
  expect(await send("GET", "/b")).toEqual([200, '{"meta":{"b":"2"}}']);
  expect(await send("PUT", "/b", { meta: { b: "3" } })).toEqual([200, '{"meta":{"b":"3"}}']);
  expect(await send("DELETE", "/a")).toEqual([204, ""]);
  expect(await send("PUT", "", { metadata: { c: "4" } })).toEqual([200, '{"metadata":{"c":"4"}}']);
  expect(await send("GET", "")).toEqual([200, '{"metadata":{"c":"4"}}']);
});

test("the kit of key-value pairs refuses a key that is not there, of a deletion only where the service does", async () => {
  expect(await served()("GET", "/x")).toEqual([400, "no key x"]);
  expect(await served()("DELETE", "/x")).toEqual([400, "no key x"]);
  const lenient = served({ unknownKey: (_c, _thing, verb) => (verb === "show" ? new Error("no key") : undefined) });
  expect(await lenient("DELETE", "/x")).toEqual([204, ""]);
  expect(await lenient("GET", "/x")).toEqual([400, "no key"]);
});

test("the kit of key-value pairs asks for permission first, and checks a body before it searches the thing", async () => {
  const refusing = (what: string) => () => {
    throw new Error(what);
  };
  const [permit, given, find] = [refusing("forbidden"), refusing("malformed"), refusing("no such thing")];
  expect(await served({ permit, given, find })("POST", "", {})).toEqual([400, "forbidden"]);
  expect(await served({ given, find })("PUT", "/a", {})).toEqual([400, "malformed"]);
  expect(await served({ find })("PUT", "", { metadata: {} })).toEqual([400, "no such thing"]);
});

test("the kit of key-value pairs serves only some writes, what was given, and other statuses", async () => {
  const send = served({ writes: ["add"], addShows: "given", statuses: { add: 202, remove: 200 } });
  expect(await send("POST", "", { metadata: { b: "2" } })).toEqual([202, '{"metadata":{"b":"2"}}']);
  expect((await send("PUT", "", { metadata: {} }))[0]).toBe(404);
  expect((await send("PUT", "/b", { meta: {} }))[0]).toBe(404);
  expect((await send("DELETE", "/b"))[0]).toBe(200);
});
