import { Hono } from "hono";
import { expect, test } from "vitest";
import { pageAfter, sortBy } from "./listing.ts";
import { mountResource, type RestResource } from "./resource.ts";

type Env = { Variables: Record<string, never> };
interface Thing {
  readonly id: string;
  readonly name: string;
}

/** A service with things in memory; what fails takes its changes back. */
function served(more: Partial<RestResource<Env, Thing>> = {}) {
  const things = new Map<string, Thing>([["1", { id: "1", name: "a" }]]);
  const app = new Hono<Env>();
  app.onError((error, c) => c.text(error.message, 400));
  const atomic = <R>(work: () => R): R => {
    const before = [...things];
    try {
      return work();
    } catch (error) {
      things.clear();
      for (const [id, thing] of before) things.set(id, thing);
      throw error;
    }
  };
  mountResource<Env, Thing>(
    app,
    { atomic },
    {
      path: "/things",
      one: "thing",
      many: "things",
      bodyMissing: (verb) => new Error(`${verb} without a thing`),
      find(c) {
        const thing = things.get(c.req.param("id") ?? "");
        if (!thing) throw new Error("no such thing");
        return thing;
      },
      list: () => ({ rows: [...things.values()], more: { total: things.size } }),
      view: (_c, { id, name }, verb) => (verb === "list" ? { id } : { id, name }),
      create(_c, given) {
        const thing = { id: "2", name: String(given["name"]) };
        things.set(thing.id, thing);
        if (thing.name === "bad") throw new Error("a bad name");
        return thing;
      },
      update: (_c, { id }, given) => ({ id, name: String(given["name"]) }),
      remove: (_c, { id }) => void things.delete(id),
      ...more,
    },
  );
  return async (method: string, path: string, body?: unknown): Promise<readonly [number, string]> => {
    const answer = await app.request(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    return [answer.status, await answer.text()];
  };
}

test("the kit of resources lists, shows, creates, updates and deletes", async () => {
  const send = served();
  expect(await send("GET", "/things")).toEqual([200, '{"things":[{"id":"1"}],"total":1}']);
  expect(await send("GET", "/things/1")).toEqual([200, '{"thing":{"id":"1","name":"a"}}']);
  expect(await send("POST", "/things", { thing: { name: "b" } })).toEqual([201, '{"thing":{"id":"2","name":"b"}}']);
  expect(await send("PUT", "/things/2", { thing: { name: "c" } })).toEqual([200, '{"thing":{"id":"2","name":"c"}}']);
  expect(await send("DELETE", "/things/2")).toEqual([204, ""]);
  expect(await send("GET", "/things/2")).toEqual([400, "no such thing"]);
});

test("the kit of resources asks for permission before it reads the body, and for the row before the body unless the service does not", async () => {
  const forbidden = served({
    permit() {
      throw new Error("forbidden");
    },
  });
  expect(await forbidden("POST", "/things", {})).toEqual([400, "forbidden"]);
  expect(await served()("PUT", "/things/9", {})).toEqual([400, "no such thing"]);
  expect(await served({ readsBodyFirst: true })("PUT", "/things/9", {})).toEqual([400, "update without a thing"]);
});

test("a create that fails has changed nothing", async () => {
  const send = served();
  expect(await send("POST", "/things", { thing: { name: "bad" } })).toEqual([400, "a bad name"]);
  expect(await send("GET", "/things")).toEqual([200, '{"things":[{"id":"1"}],"total":1}']);
});

test("the kit of resources creates by PUT where the caller chooses the id", async () => {
  const send = served({ createdBy: ["put"], updates: "patch" });
  expect((await send("PUT", "/things/2", { thing: { name: "b" } }))[0]).toBe(201);
  expect((await send("POST", "/things", { thing: { name: "b" } }))[0]).toBe(404);
});

test("a page begins after its marker and says whether rows follow", () => {
  const rows = ["a", "b", "c"].map((id) => ({ id }));
  const unknownMarker = (id: string) => new Error(`no ${id}`);
  expect(pageAfter(rows, { marker: "a", limit: 1, unknownMarker })).toEqual({ rows: [{ id: "b" }], isLast: false });
  expect(pageAfter(rows, { marker: "b", unknownMarker })).toEqual({ rows: [{ id: "c" }], isLast: true });
  expect(() => pageAfter(rows, { marker: "x", unknownMarker })).toThrow("no x");
});

test("the kit of resources sorts by several keys, numbers as numbers", () => {
  const rows = [
    { name: "b", size: 10 },
    { name: "a", size: 9 },
    { name: "a", size: 10 },
  ];
  const sorted = sortBy(rows, [{ key: "size", descending: true }, { key: "name" }], (row, key) =>
    key === "size" ? row.size : row.name,
  );
  expect(sorted.map(({ name, size }) => `${name}${size}`)).toEqual(["a10", "b10", "a9"]);
});
